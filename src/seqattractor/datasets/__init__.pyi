from ._moving_digits import moving_digits as moving_digits
from ._random import random_periodic as random_periodic
from ._random import random_sequences as random_sequences
from ._small import place_cells as place_cells
from ._small import toy as toy
from ._small import tune as tune
from ._small import xor as xor
from ._walker import walker as walker
