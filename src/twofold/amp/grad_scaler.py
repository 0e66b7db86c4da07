"""Loss scaling for float16: gradients too small for it are computed times a factor that adapts itself (P. Micikevicius et al.,
"Mixed precision training", arXiv:1710.03740)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from twofold.ir.mode import grad_mode
from twofold.support.errors import ArgumentError, AutogradError, StateDictError, ValueRangeError
from twofold.tape.versions import stamp
from twofold.tensors.core import Tensor, memory

READY, UNSCALED, STEPPED = "ready", "unscaled", "stepped"


def rounded(scale: float) -> float:
    """A scale as float32 has it."""
    with np.errstate(all="ignore"):
        return float(np.float32(scale))


class GradScaler:
    """Scales a loss, unscales gradients, and skips steps whose gradients are not finite, as `torch.amp.GradScaler`.

        scaler.scale(loss).backward(); scaler.step(optimizer); scaler.update()

    The scale begins as `init_scale`, is multiplied by `backoff_factor` after a step with an inf or NaN, and by `growth_factor` after
    `growth_interval` steps without. With enabled=False every method passes through.
    """

    def __init__(
        self,
        device: str = "cpu",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if device != "cpu":
            raise ValueRangeError(f"GradScaler: there is no device {device!r} here; device must be 'cpu'")
        if enabled and not growth_factor > 1.0:
            raise ValueRangeError(f"GradScaler: growth_factor must be above 1, not {growth_factor}")
        if enabled and not 0 <= backoff_factor < 1.0:
            raise ValueRangeError(f"GradScaler: backoff_factor must be below 1, not {backoff_factor}")
        self._enabled = enabled
        self._scale, self._growth_tracker = rounded(init_scale), 0
        self._growth_factor, self._backoff_factor, self._growth_interval = growth_factor, backoff_factor, growth_interval
        self._stages: dict[int, tuple[str, bool]] = {}
        """What was done since the last `update`, by optimiser: (stage, an inf or NaN was found)."""

    def scale(self, outputs: Any) -> Any:
        """A tensor, or a structure of lists and tuples of tensors, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._scale
        if isinstance(outputs, Iterable) and not isinstance(outputs, (str, bytes, dict)):
            scaled = [self.scale(part) for part in outputs]
            return scaled if isinstance(outputs, list) else tuple(scaled)
        raise ArgumentError(f"GradScaler.scale: outputs must be tensors or lists or tuples of them, not {type(outputs).__name__}")

    def unscale_(self, optimizer: Any) -> None:
        """Divide the optimiser's gradients by the scale, in place (before clipping, say). Once for each step."""
        if not self._enabled:
            return
        stage, _ = self._stages.get(id(optimizer), (READY, False))
        if stage is UNSCALED:
            raise AutogradError("unscale_() has already been called on this optimizer since the last update()")
        if stage is STEPPED:
            raise AutogradError("unscale_() is being called after step()")
        self._stages[id(optimizer)] = (UNSCALED, self._unscale(optimizer))

    def _unscale(self, optimizer: Any) -> bool:
        """Unscale the gradients; True if one is not finite. Gradients of float16 parameters cannot be unscaled in float16."""
        bad = False
        factor = 1.0 / self._scale
        with grad_mode(False), np.errstate(all="ignore"):
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    if p.grad.dtype.name == "float16":
                        raise ValueRangeError(
                            "GradScaler cannot unscale float16 gradients; keep the parameters in float32 and use autocast"
                        )
                    array = memory(p.grad)
                    bad = bad or not np.isfinite(array).all()
                    np.multiply(array, array.dtype.type(factor), out=array)
                    stamp(array, "GradScaler.unscale_", None, 0)
        return bad

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Unscale the gradients unless that is done, and run `optimizer.step(*args, **kwargs)` unless one of them is not finite."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs or (args and callable(args[0])):
            raise AutogradError("GradScaler.step does not support closures: they would scale another loss")
        stage, bad = self._stages.get(id(optimizer), (READY, False))
        if stage is STEPPED:
            raise AutogradError("step() has already been called since the last update()")
        if stage is READY:
            bad = self._unscale(optimizer)
        self._stages[id(optimizer)] = (STEPPED, bad)
        return None if bad else optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Adapt the scale to what the steps since the last update found, or set it."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = rounded(new_scale.item() if isinstance(new_scale, Tensor) else new_scale)
        else:
            if not self._stages:
                raise AutogradError(
                    "GradScaler.update(): no gradients were unscaled since the last update; call step() or unscale_() first"
                )
            if any(bad for _, bad in self._stages.values()):
                self._scale = rounded(self._scale * self._backoff_factor)
                self._growth_tracker = 0
            else:
                self._growth_tracker += 1
                if self._growth_tracker == self._growth_interval:
                    grown = rounded(self._scale * self._growth_factor)
                    self._scale = grown if math.isfinite(grown) else self._scale
                    self._growth_tracker = 0
        self._stages.clear()

    def get_scale(self) -> float:
        """The scale (1 where disabled)."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """The factor of growth."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the factor of growth."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """The factor after an inf or NaN."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the factor after an inf or NaN."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """How many good steps before the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set how many good steps it takes before the scale grows."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """True unless made with enabled=False."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """The scale and its settings (empty where disabled)."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale, "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval, "_growth_tracker": self._growth_tracker,
        }  # fmt: skip

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where a state dict was taken."""
        if not self._enabled:
            return
        names = ("scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker")
        if any(name not in state_dict for name in names):
            missing = ", ".join(name for name in names if name not in state_dict)
            raise StateDictError(f"the state dict of a GradScaler needs {missing}; perhaps it was saved from a disabled one")
        self._scale, self._growth_factor, self._backoff_factor, self._growth_interval, self._growth_tracker = (
            state_dict[name] for name in names
        )
