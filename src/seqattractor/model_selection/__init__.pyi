from ._recall_scorer import recall_scorer as recall_scorer
from ._splitter import LearnAll as LearnAll
