"""Pictures: each function takes data first, draws into the matplotlib Axes `ax` or into new ones,
and returns them.

Colours are safe for colour-blind readers and show on light and dark ground; wrap drawing in `style`
for text to match.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
