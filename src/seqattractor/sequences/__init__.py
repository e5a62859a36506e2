"""What a sequence is: patterns of +-1, one row per time step; transitions, loops, conflicts and
binarisation.
"""

from seqattractor.sequences._level_code import LevelCode as LevelCode
from seqattractor.sequences._patterns import Lengths as Lengths
from seqattractor.sequences._patterns import Patterns as Patterns
from seqattractor.sequences._patterns import binarize as binarize
from seqattractor.sequences._patterns import check_frame_shape as check_frame_shape
from seqattractor.sequences._patterns import check_patterns as check_patterns
from seqattractor.sequences._patterns import split as split
from seqattractor.sequences._patterns import unbinarize as unbinarize
from seqattractor.sequences._sequences import Sequences as Sequences
from seqattractor.sequences._sequences import check_sequences as check_sequences
from seqattractor.sequences._transitions import Conflict as Conflict
from seqattractor.sequences._transitions import Conflicts as Conflicts
from seqattractor.sequences._transitions import Transitions as Transitions
from seqattractor.sequences._transitions import close_loops as close_loops
from seqattractor.sequences._transitions import find_conflicts as find_conflicts
from seqattractor.sequences._transitions import stack_context as stack_context
from seqattractor.sequences._transitions import transitions as transitions
