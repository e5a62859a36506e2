from ._level_encoder import LevelCode as LevelCode
from ._level_encoder import LevelEncoder as LevelEncoder
from ._population_encoder import PopulationEncoder as PopulationEncoder
from ._spike_binner import SpikeBinner as SpikeBinner
from ._threshold_encoder import ThresholdEncoder as ThresholdEncoder
