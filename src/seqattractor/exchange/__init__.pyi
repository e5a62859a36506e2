from .nir_reader import from_nir as from_nir
from .torch_reader import from_torch as from_torch
