"""Eager training steps of real networks beside torch's, on two threads, in alternating processes.

python benchmarks/training.py [--pairs 7] [--json FILE]
python benchmarks/training.py --side twofold|torch        one process, figures as JSON (milliseconds)
python benchmarks/training.py --side twofold --profile    where one process spends its time

resnet18: ResNet-18 with the stem for small images, 32 x 32, batch 32, SGD with momentum.
gpt: nanoGPT's small configuration for a CPU (4 layers, 4 heads, 128 channels, block 64, batch 12, 65 characters), AdamW.
Each figure is the median of the steps of a process, after two to warm up.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from pairs import machine, paired, show, summarise  # noqa: E402

THREADS = "2"
ENVIRONMENT = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TWOFOLD_NUM_THREADS"), THREADS)


def median_ms(step: Callable[[], None], warm: int, steps: int) -> float:
    """The median milliseconds of a step."""
    for _ in range(warm):
        step()
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        step()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def resnet(name: str, lib: Any) -> Callable[[], None]:
    """A training step of ResNet-18."""
    if name == "torch":
        from tests.models.torch_resnet import TorchResNet

        model = TorchResNet(False, (2, 2, 2, 2), classes=10, small=True)
    else:
        from twofold.models import resnet18

        model = resnet18(num_classes=10, stem="cifar")
    optimizer = lib.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
    x, y = lib.randn(32, 3, 32, 32), lib.randint(0, 10, (32,))

    def step() -> None:
        optimizer.zero_grad()
        lib.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def gpt(name: str, lib: Any) -> Callable[[], None]:
    """A training step of a small GPT."""
    if name == "torch":
        from tests.models import torch_gpt

        class Layer(torch_gpt.Layer):
            """The twin's layer with torch's fused attention, as nanoGPT runs it."""

            def forward(self, x: Any) -> Any:
                b, t, c = x.shape
                q, k, v = (p.view(b, t, self.heads, c // self.heads).transpose(1, 2) for p in self.attn.c_attn(self.ln_1(x)).split(c, 2))
                y = lib.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
                x = x + self.attn.c_proj(y.transpose(1, 2).reshape(b, t, c))
                return x + self.mlp.c_proj(lib.nn.functional.gelu(self.mlp.c_fc(self.ln_2(x))))

        torch_gpt.Layer = Layer
        model = torch_gpt.TorchGPT(65, 64, 4, 4, 128, True)
    else:
        from twofold.models import GPT, GPTConfig

        model = GPT(GPTConfig(block_size=64, vocab_size=65, n_layer=4, n_head=4, n_embd=128))
    optimizer = lib.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.99), weight_decay=0.1)
    tokens = lib.randint(0, 65, (12, 65))
    x, y = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()

    def step() -> None:
        optimizer.zero_grad()
        found = model(x, y)
        loss = found if name == "torch" else found[1]
        loss.backward()
        optimizer.step()

    return step


def side(name: str, profile: bool = False) -> dict[str, float]:
    """All figures of one package, in this process."""
    if name == "torch":
        import torch as lib

        lib.set_num_threads(int(THREADS))
    else:
        import twofold as lib
    figures = {}
    for case, make, steps in (("resnet18, ms", resnet, 5), ("gpt, ms", gpt, 15)):
        lib.manual_seed(0)
        step = make(name, lib)
        figures[case] = median_ms(step, 2, steps)
        if profile:
            with cProfile.Profile() as profiler:
                for _ in range(3):
                    step()
            pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(25)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", choices=("twofold", "torch"))
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if arguments.side:
        print(json.dumps(side(arguments.side, arguments.profile)))
        return
    commands = [[arguments.python, __file__, "--side", name] for name in ("twofold", "torch")]
    rows = summarise(paired(*commands, arguments.pairs, ENVIRONMENT), {})
    show(rows, "milliseconds a training step, median of a process, median of processes; two threads")
    if arguments.json:
        arguments.json.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
