"""PyTorch's autograd on a CUDA device."""

from torch_on_device import seconds_of as seconds_of
from torch_peer import prepare as prepare
