"""NumPy's floating-point warnings (division by zero, overflow, NaN) do not reach users: PyTorch prints none.

What was measured, beside an operation of about 600 ns: `np.errstate` around it 1,500 to 4,000 ns; NumPy's context variable set and reset
by hand 400 ns;
both also fall silent only for one thread or block. A warnings filter for the modules of this package costs nothing, but is put behind
`error` filters that
are set later (pytest's `filterwarnings = error` does so for every test), which then turn `log(0)` into an exception in the middle of an
operation, and is
forgotten where the package is first imported inside `warnings.catch_warnings`. `np.seterr` would silence users' own NumPy code.

So the modules in which NumPy computes for us have no global `__name__`: CPython gives no warning whose place has the module name None (a
rule
it needs during shutdown), whatever the filters, in every thread, at no cost. Users' own NumPy code warns as before. A test holds all of
this.
"""

from __future__ import annotations

import sys

COMPUTING = ("twofold.ops.", "twofold.tape.", "twofold.tensors.", "twofold.ir.run")
"""First parts of the names of those modules. Packages keep their name, which imports need."""


def hush() -> None:
    """Take the global `__name__` from the modules loaded so far that compute."""
    for name, module in list(sys.modules.items()):
        if name.startswith(COMPUTING) and not hasattr(module, "__path__"):
            vars(module)["__name__"] = None
