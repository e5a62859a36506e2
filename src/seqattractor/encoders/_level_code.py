"""The code of levels, which `Sequences` carry, under the name by which users reach it."""

from seqattractor.sequences._level_code import LevelCode as LevelCode
