"""Which PyTorch this is. Importing this module imports PyTorch."""

from ..frameworks import imported

torch = imported("torch", "backslice.torch needs PyTorch")
OLDEST, NEWEST = (2, 11), (2, 15)  # that the kernels were tested with


def why_not() -> str | None:
    """Why the kernels are not put in use; None where they are."""
    parts = str(torch.__version__).split(".")[:2]
    version = tuple(int(part) for part in parts if part.isdigit())
    if OLDEST <= version <= NEWEST:
        return None
    return (
        f"PyTorch {torch.__version__} is not one that backslice knows; "
        f"it takes {OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}"
    )
