from ._recall_scorer import LearnAll as LearnAll
from ._recall_scorer import recall_scorer as recall_scorer
