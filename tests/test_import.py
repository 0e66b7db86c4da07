"""What `import twofold` loads, offers and refuses; and that NumPy's warnings stay inside."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import twofold
from twofold import exports
from twofold.support.errors import DeviceError, UnknownNameError
from twofold.tensors.core import wrap

ROOT = Path(exports.__file__).parent.parent


def run(code: str, *options: str) -> str:
    """What a new process prints; warnings and errors of its own fail the test."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "PYTHONWARNINGS")} | {
        "PYTHONPATH": str(ROOT)
    }
    command = [sys.executable, *options, "-c", textwrap.dedent(code)]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def test_the_package_alone_is_tiny() -> None:
    loaded = run(
        """
        import sys
        import twofold
        print(*sys.modules)
        """
    ).split()
    assert {n for n in loaded if n.startswith("twofold")} == {"twofold", "twofold.exports", "twofold.support", "twofold.support.errors"}
    assert not {"numpy", "ml_dtypes", "inspect", "dataclasses", "difflib", "typing_extensions"} & set(loaded)


def test_tensors_load_nothing_heavy() -> None:
    heavy = {
        "llvmlite",
        "rich",
        "typer",
        "onnx",
        "networkx",
        "torch",
        "scipy",
        "sklearn",
        "safetensors",
        "numpy.testing",
        "asyncio",
        "unittest",
    }
    loaded = run(
        """
        import sys, twofold
        x = twofold.ones(3, requires_grad=True)
        (x * 2).sum().backward()
        repr(x.grad)
        print(*sys.modules)
        """
    ).split()
    assert not heavy & set(loaded)


def test_time() -> None:
    """Processor time, so that a busy machine does not matter: the import is lazy, a small part of NumPy's."""
    code = """
        import time
        begin = time.process_time()
        import numpy
        between = time.process_time()
        import twofold
        alone = time.process_time()
        print(between - begin, alone - between)
        """
    measured = [tuple(map(float, run(code).split())) for _ in range(4)]
    numpy, alone = (min(m[i] for m in measured) for i in range(2))
    assert alone < 0.3 * numpy


def test_every_name_is_there() -> None:
    names = dir(twofold)
    assert names == sorted(set(names))
    assert len(names) > 350
    for name in names:
        assert getattr(twofold, name, None) is not None or name == "newaxis"
    for name in ("sin", "cat", "float32", "Tensor", "no_grad", "nn", "show_graph", "__version__", "ones", "tensor", "manual_seed"):
        assert name in names
    assert not [n for n in names if n.endswith("_backward")]


def test_names_are_kept_once_found() -> None:
    assert twofold.sin is twofold.sin
    assert "sin" in vars(twofold)
    assert (twofold.float, twofold.double, twofold.half, twofold.long, twofold.int, twofold.short, twofold.bool) == (
        twofold.float32, twofold.float64, twofold.float16, twofold.int64, twofold.int32, twofold.int16, twofold.tensor(True).dtype,
    )  # fmt: skip
    assert isinstance(twofold.default_generator, twofold.Generator)


def test_star() -> None:
    found = run(
        """
        from twofold import *
        print(float is __builtins__.float, bool is __builtins__.bool, ones(2) + zeros(2), nn.__name__, inf)
        """
    )
    assert found == "True True tensor([1., 1.]) twofold.nn inf\n"


def test_unknown_names() -> None:
    for name, near in (("sinn", "sin"), ("flaot32", "float32"), ("Tenso", "Tensor"), ("no_grd", "no_grad"), ("ons", "ones")):
        with pytest.raises(UnknownNameError, match=rf"'twofold' has no attribute {name!r}; did you mean .*\b{near}\b"):
            getattr(twofold, name)
        with pytest.raises(AttributeError):
            getattr(twofold, name)
    with pytest.raises(UnknownNameError, match="'qqqqqq'\n"):
        twofold.qqqqqq
    for name in ("__wrapped__", "_private", "softmax_backward", "view_chain"):
        assert not hasattr(twofold, name)
    with pytest.raises(ImportError, match="sinn"):
        exec("from twofold import sinn")
    assert (
        run("import sys, twofold; hasattr(twofold, '__path_hooks__'); hasattr(twofold, '_x'); print('numpy' in sys.modules)") == "False\n"
    )


def test_the_version() -> None:
    text = (ROOT.parent / "pyproject.toml").read_text(encoding="utf-8") if (ROOT.parent / "pyproject.toml").exists() else ""
    assert not text or f'version = "{twofold.__version__}"' in text


def test_cuda() -> None:
    assert not twofold.cuda.is_available()
    assert twofold.cuda.device_count() == 0
    twofold.cuda.manual_seed_all(3)
    for call in (twofold.cuda.current_device, twofold.cuda.synchronize, twofold.ones(1).cuda):
        with pytest.raises(DeviceError, match="CPU only"):
            call()
    with pytest.raises(DeviceError, match="CPU only"):
        twofold.ones(1, device="cuda")
    assert not hasattr(twofold.cuda, "amp")


@pytest.mark.parametrize(
    "ours, dtype",
    [(twofold.finfo, d) for d in ("float16", "bfloat16", "float32", "float64")] + [(twofold.iinfo, d) for d in ("uint8", "int8", "int64")],
)
def test_limits_like_torch(ours: Any, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    a, b = ours(getattr(twofold, dtype)), getattr(torch, ours.__name__)(getattr(torch, dtype))
    for field in ("bits", "max", "min", "dtype") + (("eps", "tiny", "smallest_normal", "resolution") if ours is twofold.finfo else ()):
        assert getattr(a, field) == getattr(b, field), field
    assert repr(a) == repr(b) or "e+18" in repr(b)  # PyTorch rounds the limits of int64


def test_promotion_like_torch() -> None:
    torch = pytest.importorskip("torch")
    names = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
    for a in names:
        for b in names:
            assert repr(twofold.promote_types(getattr(twofold, a), getattr(twofold, b))).split(".")[1] == str(
                torch.promote_types(getattr(torch, a), getattr(torch, b))
            ).removeprefix("torch.")
            assert twofold.can_cast(getattr(twofold, a), getattr(twofold, b)) == torch.can_cast(getattr(torch, a), getattr(torch, b))
            for number in (True, 1, 1.0):
                expected = torch.result_type(torch.ones(2, dtype=getattr(torch, a)), number)
                assert f"torch.{twofold.result_type(twofold.ones(2, dtype=getattr(twofold, a)), number).name}" == str(expected)


# ---- NumPy's warnings -------------------------------------------------------------------------------------------------------------------

BAD = (0.0, -0.0, 1.0, -1.0, 2.0, float("inf"), float("-inf"), float("nan"), 3e38, -3e38, 1e-38)
SKIPPED = {"bernoulli", "multinomial", "normal", "dropout"}


def unary_calls() -> list[str]:
    """The public functions that take one float tensor alone."""
    x, names = wrap(np.ones((2, 2), np.float32)), []
    for name, function in exports.functions().items():
        try:
            result = function(x)
        except (TypeError, RuntimeError, ValueError, IndexError, UserWarning):  # the last: outdated names
            continue
        if isinstance(result, twofold.Tensor) and name not in SKIPPED:
            names.append(name)
    return names


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_no_warning_from_bad_numbers(dtype: str) -> None:
    """This suite turns warnings into errors, put before anything the package could set: nothing may get through, forward or backward."""
    names = unary_calls()
    assert len(names) > 60
    failed = []
    for name in names:
        for shape in ((11,), (1, 11), (0, 3)):
            x = wrap(np.resize(np.array(BAD, np.float32), shape)).to(getattr(twofold, dtype)).detach().requires_grad_()
            try:
                y = getattr(twofold, name)(x)
                if y.requires_grad:
                    y.sum().backward(create_graph=True)
                    if x.grad is not None and x.grad.requires_grad:
                        x.grad.sum().backward()
                    x.grad = None
            except RuntimeWarning as e:
                failed.append(f"{name}{shape}: {e}")
            except (RuntimeError, ValueError, TypeError, IndexError):
                continue  # a refusal
    assert not failed, "\n".join(failed)


def test_no_warning_from_binary_operations_and_writes() -> None:
    for dtype in (twofold.float32, twofold.float16, twofold.int32):
        a = twofold.tensor([1.0, 0.0, 3e4, 0.0]).to(dtype)
        b = twofold.tensor([0.0, 0.0, 3e4, -1.0]).to(dtype)
        for f in (
            lambda p, q: p / q,
            lambda p, q: p * q * q * q,
            lambda p, q: p ** q.abs(),
            lambda p, q: p.div(q),
        ):
            f(a, b)
    a = twofold.tensor([1e38, float("nan"), float("inf"), -1.0])
    a.to(twofold.float16), a.to(twofold.int32), a.to(twofold.uint8), a.half().to(twofold.bfloat16)
    a.mul_(1e38).sub_(a).div_(0.0)
    big = twofold.full((2,), 1e38, requires_grad=True)
    for _ in range(5):
        (big * 3e38).sum().backward()
    assert np.isinf(big.grad.numpy()).all()


def test_filters_threads_and_users_own_numpy() -> None:
    code = """
        import threading, warnings
        import numpy as np
        {early}
        import twofold
        {late}
        def ours():
            assert twofold.log(twofold.zeros(2)).tolist() == [-twofold.inf] * 2
            x = twofold.zeros(2, requires_grad=True)
            (x / x).sum().backward()
        ours()
        failed = []
        def work():
            try:
                ours()
            except BaseException as e:
                failed.append(e)
        t = threading.Thread(target=work); t.start(); t.join()
        assert not failed, failed
        try:
            np.log(np.zeros(2))
            print("nothing")
        except RuntimeWarning as e:
            print("user:", e)
        """
    error = 'warnings.simplefilter("error")'
    expected = "user: divide by zero encountered in log\n"
    assert run(code.format(early=error, late="")) == expected
    assert run(code.format(early="", late=error)) == expected
    assert run(code.format(early="", late="warnings.resetwarnings(); " + error)) == expected
    assert run(code.format(early="", late=""), "-W", "error") == expected


def test_users_numpy_still_warns_here() -> None:
    twofold.log(twofold.zeros(2))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        np.log(np.zeros(2))
    seen: list[Any] = []

    def work() -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            twofold.log(twofold.zeros(2))
            seen.extend(caught)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == []


def test_our_own_warnings_still_reach_users() -> None:
    y = twofold.ones(2, requires_grad=True) * 2
    with pytest.warns(UserWarning, match="retain_grad"):
        y.grad
