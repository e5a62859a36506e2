from . import datasets as datasets
from . import noise as noise
from .analysis.basin import basin as basin
from .analysis.certificate import certify as certify
from .analysis.retrieval import caught_at as caught_at
from .analysis.retrieval import overlap as overlap
from .analysis.retrieval import retrieved as retrieved
from .analysis.retrieval import success_rate as success_rate
from .analysis.retrieval import wilson_interval as wilson_interval
from .analysis.robustness import robustness_curve as robustness_curve
from .analysis.separability import cover_probability as cover_probability
from .analysis.separability import separable as separable
from .networks import DenseSequenceMemory as DenseSequenceMemory
from .networks import LookupMemory as LookupMemory
from .networks import OneHotNetwork as OneHotNetwork
from .networks import PredictiveCodingMemory as PredictiveCodingMemory
from .networks import SequenceAttractor as SequenceAttractor
from .networks import SequenceMemory as SequenceMemory
from .networks import SparseSequenceAttractor as SparseSequenceAttractor
from .networks import VisibleNetwork as VisibleNetwork
from .networks import load as load
from .sequences import binarize as binarize
from .sequences import unbinarize as unbinarize
from .successors import conflicts as conflicts

__version__: str
