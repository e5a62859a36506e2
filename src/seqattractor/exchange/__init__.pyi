from .from_nir import from_nir as from_nir
from .from_torch import from_torch as from_torch
