"""Exports typical models from PyTorch: `python export_models.py FOLDER`, in PyTorch's environment."""

import sys
from pathlib import Path

import onnx
import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU())
        self.second = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + self.second(self.first(x)))


def cnn() -> nn.Module:
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 10)]
    return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), Residual(16), Residual(16), *head)


class Attention(nn.Module):
    def __init__(self, width: int, heads: int = 4) -> None:
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        weights = torch.softmax(q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5, -1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.attention = nn.Sequential(nn.LayerNorm(width), Attention(width))
        self.mlp = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(x)
        return x + self.mlp(x)


class Lstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(8, 16, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(x)[0][:, -1])


class Swin(nn.Module):
    """Shifted windows, and the merging of patches."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks, self.merge = nn.ModuleList([Block(32), Block(32)]), nn.Linear(128, 64)
        self.norm = nn.LayerNorm(128)

    def windows(self, x: torch.Tensor, block: nn.Module) -> torch.Tensor:
        cut = x.view(1, 2, 4, 2, 4, 32).transpose(2, 3).reshape(4, 16, 32)
        return block(cut).view(1, 2, 2, 4, 4, 32).transpose(2, 3).reshape(1, 8, 8, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.windows(x, self.blocks[0])
        x = self.windows(torch.roll(x, (-2, -2), (1, 2)), self.blocks[1]).roll((2, 2), (1, 2))
        merged = torch.cat([x[:, i::2, j::2] for j in (0, 1) for i in (0, 1)], -1)
        return self.merge(self.norm(merged))


class Unet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ConvTranspose2d(8, 8, 2, stride=2)
        self.out = nn.Sequential(nn.Conv2d(11, 8, 3), nn.SiLU(), nn.Conv2d(8, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        up = self.up(torch.relu(self.down(x)))
        return torch.sigmoid(self.out(torch.cat([x[:, :, :-1, :-1], up[:, :, :-1, :-1]], 1)))


torch.manual_seed(0)
MODELS = {
    "torch_cnn": (cnn(), (2, 3, 16, 16)),
    "torch_encoder": (nn.Sequential(Block(32), Block(32), nn.LayerNorm(32)), (2, 8, 32)),
    "torch_encoder_layer": (nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), (2, 8, 32)),
    "torch_lstm": (Lstm(), (3, 5, 8)),
    "torch_swin": (Swin(), (1, 8, 8, 32)),
    "torch_unet": (Unet(), (1, 3, 16, 16)),
    "torch_mlp": (nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4), nn.Softmax(-1)), (2, 8)),
}


def main() -> None:
    folder = Path(sys.argv[1])
    for name, (module, shape) in MODELS.items():
        path = folder / f"{name}.onnx"
        torch.onnx.export(
            module.eval(), (torch.randn(shape),), str(path), input_names=["x"], opset_version=18, external_data=False
        )
        model = onnx.load(path)
        model.ir_version = 8  # which ONNX Runtime 1.17 reads, too
        onnx.save(model, path)


main()
