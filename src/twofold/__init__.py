"""Twofold: tensors that run now and tensors that write a graph. Names are PyTorch's.

Everything here is imported when it is first used; `dir(twofold)` lists all of it.
"""

from twofold.exports import listing as __dir__  # noqa: F401
from twofold.exports import lookup as __getattr__  # noqa: F401

__version__ = "0.1.0"
