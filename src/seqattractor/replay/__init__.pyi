from ._consensus import consensus as consensus
from ._cross_validate import CrossValidation as CrossValidation
from ._cross_validate import cross_validate as cross_validate
from ._events import ReplayTest as ReplayTest
from ._events import test as test
