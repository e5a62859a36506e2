from .moving_digits import moving_digits as moving_digits
from .random import random_periodic as random_periodic
from .random import random_sequences as random_sequences
from .toy import toy as toy
from .toy import xor as xor
from .walker import walker as walker
