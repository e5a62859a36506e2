from ._consensus import consensus as consensus
from ._test import ReplayTest as ReplayTest
from ._test import test as test
