"""Whole models, trained some steps without and with backslice, to equal weights."""

from collections.abc import Callable
from typing import Any

import backslice.torch as bt
import pytest
import torch
from backslice.torch import counting
from torch import nn

STEPS = 4


class StepwiseLstm(nn.Module):
    """An LSTM written with x[:, t]."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.cell, self.head = nn.Linear(6, 8), nn.LSTMCell(8, 16), nn.Linear(16, 3)

    def forward(self, x: Any) -> Any:
        x = self.embed(x)
        h, c = x.new_zeros(x.shape[0], 16), x.new_zeros(x.shape[0], 16)
        outputs = []
        for t in range(x.shape[1]):
            h, c = self.cell(x[:, t], (h, c))
            outputs.append(h)
        return self.head(torch.stack(outputs, 1)[:, -1])


class SlidingAttention(nn.Module):
    """Every window of the keys is sliced twice: by unfold, and one by one."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.head = nn.Linear(6, 24), nn.Linear(8, 3)

    def forward(self, x: Any) -> Any:
        q, k, v = (self.qkv(x)[..., 8 * i : 8 * i + 8] for i in range(3))
        windows = k.unfold(1, 4, 1)
        outputs = []
        for t in range(windows.shape[1]):
            weights = torch.softmax((q[:, t + 3, None] @ windows[:, t]).squeeze(1), -1)
            outputs.append((weights[..., None] * v[:, t : t + 4]).sum(1))
        return self.head(torch.stack(outputs, 1).mean(1))


class CroppingUNet(nn.Module):
    """The skip connections are cropped, as in the first U-Net."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.deep = nn.Conv2d(1, 4, 3), nn.Conv2d(4, 4, 3)
        self.up, self.head = nn.ConvTranspose2d(4, 4, 2, 2), nn.Conv2d(8, 3, 3)

    def forward(self, x: Any) -> Any:
        skip = torch.relu(self.down(x))
        low = self.up(torch.relu(self.deep(nn.functional.max_pool2d(skip, 2))))
        edge = (skip.shape[-1] - low.shape[-1]) // 2
        crop = skip[:, :, edge : edge + low.shape[2], edge : edge + low.shape[3]]
        return self.head(torch.cat([crop, low], 1)).mean((2, 3))


class ShiftedWindows(nn.Module):
    """Windows that are rolled, cut out one by one, mixed and put together again, as in Swin."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.mix, self.head = nn.Linear(6, 8), nn.Linear(16, 16), nn.Linear(8, 3)

    def forward(self, x: Any) -> Any:
        x = self.inside(x)
        for shift in (0, 1):
            x = torch.roll(x, (-shift, -shift), (1, 2))
            rows = []
            for i in range(0, x.shape[1], 4):
                cells = [x[:, i : i + 4, j : j + 4] for j in range(0, x.shape[2], 4)]
                mixed = [self.mix(c.flatten(1, 2).transpose(1, 2)).transpose(1, 2).unflatten(1, (4, 4)) for c in cells]
                rows.append(torch.cat(mixed, 2))
            x = torch.roll(torch.cat(rows, 1) + x, (shift, shift), (1, 2))
        return self.head(x.mean((1, 2)))


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "an LSTM by time steps": (StepwiseLstm, (5, 12, 6)),
    "attention in sliding windows": (SlidingAttention, (5, 12, 6)),
    "a U-Net that crops": (CroppingUNet, (3, 1, 20, 20)),
    "shifted windows": (ShiftedWindows, (3, 8, 8, 6)),
}


def weights(make: Callable[[], nn.Module], shape: tuple[int, ...]) -> list[Any]:
    torch.manual_seed(0)
    model = make().double()
    data, targets = torch.randn(STEPS, *shape, dtype=torch.float64), torch.randint(3, (STEPS, shape[0]))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for x, target in zip(data, targets, strict=True):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), target).backward()
        optimizer.step()
    return [parameter.detach() for parameter in model.parameters()]


@pytest.mark.parametrize("model", MODELS)
def test_training_ends_in_equal_weights(model: str) -> None:
    make, shape = MODELS[model]
    torch.manual_seed(0)
    initial = [parameter.detach().double() for parameter in make().parameters()]
    without = weights(make, shape)
    with bt.enabled():
        found = weights(make, shape)
    assert sum(counting.taken.values()) >= 2 * STEPS
    assert not any(torch.equal(a, b) for a, b in zip(without, initial, strict=True))
    for a, b in zip(found, without, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-14)  # sums of sums are added in another order
