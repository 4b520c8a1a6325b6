"""Arrays on CUDA devices."""

from typing import Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike, NDArray

class DeviceArray:
    """A result on a CUDA device.

    Results for arrays of PyTorch and CuPy are tensors and arrays of theirs.
    For arrays of other libraries the result is this: any library takes it
    through ``__dlpack__`` or ``__cuda_array_interface__``, without a copy.

    See Also
    --------
    backslice.cuda.devices : The devices there are.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype."""

    @property
    def device(self) -> str:
        """The device: ``"cuda:0"``."""

    def to_numpy(self) -> NDArray[Any]:
        """Copy it to the CPU.

        Returns
        -------
        ndarray
            A new array.
        """

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The memory for other libraries.

        It is complete, so that no stream has to wait for it. When the consumer drops it, the memory is kept until what
        is queued on `stream` by then has run.
        """

    def __dlpack_device__(self) -> tuple[int, int]: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    @property
    def _memory(self) -> tuple[int, tuple[int, ...], int]: ...
    @property
    def _as_bytes(self) -> DeviceArray: ...
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NoReturn:
        """Refuses: `to_numpy` copies it to the CPU.

        Parameters
        ----------
        dtype, copy
            As NumPy passes them.

        Raises
        ------
        DTypeError
            Always.
        """

    def __reduce__(self) -> NoReturn:
        """Refuses: pickle what `to_numpy` returns.

        Raises
        ------
        DTypeError
            Always.
        """

    def __repr__(self) -> str: ...
