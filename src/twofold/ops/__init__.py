"""The vocabulary: one file a family, one record an operation."""

from twofold.support.lazy import lazy_exports

__all__ = ["FAMILIES", "load_vocabulary"]
__getattr__, __dir__ = lazy_exports(__name__, {"vocabulary": ("FAMILIES", "load_vocabulary")})
