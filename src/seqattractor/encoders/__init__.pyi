from ._level_encoder import LevelCode as LevelCode
from ._level_encoder import LevelEncoder as LevelEncoder
from ._population_encoder import PopulationEncoder as PopulationEncoder
from ._threshold_encoder import ThresholdEncoder as ThresholdEncoder
