"""Tensors: the class, the functions, views and in-place, backward. Importing any part attaches the methods of `Tensor`."""

from twofold.tensors import methods as _methods  # noqa: F401  (attaches the methods)
from twofold.tensors.core import Size, Symbol, Tensor

__all__ = ["Size", "Symbol", "Tensor"]
