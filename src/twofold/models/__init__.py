"""Models of the field, and the small ones of the tour."""

from twofold.support.lazy import lazy_exports

__all__ = ["DigitsNet"]
__getattr__, __dir__ = lazy_exports(__name__, {"digits": ("DigitsNet",)})
