from ._moving_digits import moving_digits as moving_digits
from ._place_cells import place_cells as place_cells
from ._random import random_periodic as random_periodic
from ._random import random_sequences as random_sequences
from ._toy import toy as toy
from ._toy import xor as xor
from ._tune import tune as tune
from ._walker import walker as walker
