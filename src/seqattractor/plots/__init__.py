"""Pictures: each function takes data first, draws into the matplotlib Axes `ax` or into new ones, and returns them.

Colours are safe for colour-blind readers and show on light and dark ground; wrap drawing in `style` for text to match.
"""

from seqattractor._suggest import public_names as _public_names

__getattr__, __dir__, __all__ = _public_names(__name__, __file__)
