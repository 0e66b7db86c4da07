"""A training run that can stop and go on: `python training.py RULE FIRST LAST CHECKPOINT` trains the epochs FIRST ... LAST - 1.

It begins from the checkpoint if FIRST is not 0, prints the bits of every loss, writes the checkpoint, and dies by SIGKILL.
"""

from __future__ import annotations

import os
import signal
import sys

import twofold
from twofold import nn, optim
from twofold.data import DataLoader, TensorDataset

RULES = {
    "sgd": (lambda p: optim.SGD(p, lr=0.05, momentum=0.9), lambda o: optim.lr_scheduler.StepLR(o, 1, gamma=0.7)),
    "adam": (lambda p: optim.Adam(p, lr=0.01), lambda o: optim.lr_scheduler.CosineAnnealingLR(o, 5)),
    "adamw": (lambda p: optim.AdamW(p, lr=0.01, amsgrad=True), lambda o: optim.lr_scheduler.MultiStepLR(o, [1, 2], gamma=0.5)),
}


def train(rule: str, first: int, last: int, checkpoint: str) -> list[str]:
    """The losses' bits."""
    twofold.manual_seed(3)
    make = twofold.Generator().manual_seed(4)
    images = twofold.rand(64, 1, 8, 8, generator=make)
    labels = twofold.randint(0, 10, (64,), generator=make)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Dropout(0.3), nn.Linear(4 * 36, 10))
    optimizer = RULES[rule][0](model.parameters())
    scheduler = RULES[rule][1](optimizer)
    shuffling = twofold.Generator().manual_seed(5)
    if first > 0:
        saved = twofold.load(checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        scheduler.load_state_dict(saved["scheduler"])
        shuffling.set_state(saved["shuffling"].get_state())
        twofold.set_rng_state(saved["random"])
    losses = []
    for _ in range(first, last):
        for x, y in DataLoader(TensorDataset(images, labels), batch_size=8, shuffle=True, generator=shuffling):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(float(loss).hex())
        scheduler.step()
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}
    twofold.save({**state, "shuffling": shuffling, "random": twofold.get_rng_state()}, checkpoint)
    return losses


if __name__ == "__main__":
    print(*train(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
