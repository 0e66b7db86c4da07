"""Lookup tables of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir.mode import grad_mode
from twofold.nn import functional as F
from twofold.nn import init
from twofold.nn.create import new_parameter
from twofold.nn.module import Module
from twofold.nn.parameter import Parameter
from twofold.support.errors import ArgumentError, ShapeError, UnsupportedError, ValueRangeError
from twofold.tensors.core import Tensor


def _row(padding_idx: Any, rows: int, what: str) -> int:
    """The row of padding, counted from 0."""
    if not isinstance(padding_idx, (int, np.integer)):
        raise ArgumentError(f"{what}: padding_idx must be an int or None, not {padding_idx!r}")
    if not -rows <= padding_idx < rows:
        raise ValueRangeError(f"{what}: padding_idx ({padding_idx}) must be within the {rows} embeddings")
    return int(padding_idx % rows)


class Embedding(Module):
    """Rows of `weight` (num_embeddings, embedding_dim) by integer index: input (*), output (*, embedding_dim). Begins standard normal.

    padding_idx: this row begins as zeros and gets no gradient.  scale_grad_by_freq: a row's gradient is divided by how often it was used.
    max_norm: rows are scaled to at most this norm (of order norm_type) when they are used, in place. Sparse gradients do not exist here:
    UnsupportedError.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if sparse:
            raise UnsupportedError("Embedding: sparse gradients are not supported")
        if padding_idx is not None:
            padding_idx = _row(padding_idx, num_embeddings, "Embedding")
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if _weight is None:
            self.weight = new_parameter((num_embeddings, embedding_dim), device, dtype)
            self.weight.requires_grad_(not _freeze)
            self.reset_parameters()
            return
        if tuple(_weight._type.shape) != (num_embeddings, embedding_dim):
            raise ShapeError(f"Embedding: the weight has shape {tuple(_weight._type.shape)}, not {(num_embeddings, embedding_dim)}")
        self.weight = Parameter(_weight, requires_grad=not _freeze)

    def reset_parameters(self) -> None:
        """Draw the weight anew; the row of padding_idx becomes zero."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            with grad_mode(False):
                self.weight[self.padding_idx].fill_(0)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """An Embedding around a matrix of vectors, which is frozen unless `freeze=False`."""
        if embeddings._type.ndim != 2:
            raise ShapeError(f"from_pretrained: expects a matrix of vectors, not a tensor of shape {tuple(embeddings._type.shape)}")
        rows, columns = embeddings._type.shape
        return cls(
            rows, columns, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, _weight=embeddings, _freeze=freeze
        )  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        """The rows of the indices."""
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq)

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        return text


class EmbeddingBag(Module):
    """The sum, mean or maximum of rows of `weight` (num_embeddings, embedding_dim) for each bag of indices; see
    `nn.functional.embedding_bag`. Begins standard normal; the row padding_idx as zeros."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if sparse:
            raise UnsupportedError("EmbeddingBag: sparse gradients are not supported")
        if padding_idx is not None:
            padding_idx = _row(padding_idx, num_embeddings, "EmbeddingBag")
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = padding_idx
        if _weight is None:
            self.weight = new_parameter((num_embeddings, embedding_dim), device, dtype)
            self.reset_parameters()
        elif tuple(_weight._type.shape) != (num_embeddings, embedding_dim):
            raise ShapeError(f"EmbeddingBag: the weight has shape {tuple(_weight._type.shape)}, not {(num_embeddings, embedding_dim)}")
        else:
            self.weight = Parameter(_weight)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    def reset_parameters(self) -> None:
        """Draw the weight anew; the row of padding_idx becomes zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with grad_mode(False):
                self.weight[self.padding_idx].fill_(0)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """An EmbeddingBag around a matrix of vectors, which is frozen unless `freeze=False`."""
        if embeddings._type.ndim != 2:
            raise ShapeError(f"from_pretrained: expects a matrix of vectors, not a tensor of shape {tuple(embeddings._type.shape)}")
        rows, columns = embeddings._type.shape
        made = cls(
            rows, columns, max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings, include_last_offset, padding_idx
        )  # fmt: skip
        made.weight.requires_grad_(not freeze)
        return made

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        """One row for each bag: input (B, L), or (L,) with `offsets`."""
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm!r}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type!r}"
        if self.scale_grad_by_freq:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        text += f", mode={self.mode!r}"
        return text if self.padding_idx is None else f"{text}, padding_idx={self.padding_idx}"
