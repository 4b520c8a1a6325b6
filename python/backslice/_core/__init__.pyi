"""The extension module: its types, parameters, defaults and docstrings.

One stub per task. The build installs the signatures and docstrings in them on the module's functions and classes
(bindings/signatures.h), so this is the one place where they are written. The examples are tests; they assume
`import numpy as np` and `import backslice as bs`.
"""

from .dense import *
from .internal import *
from .internal import __version__ as __version__
from .internal import _dlpack_capsule as _dlpack_capsule
from .internal import _numpy_dtype as _numpy_dtype
from .internal import _register as _register
from .internal import _set_serial as _set_serial
from .internal import _slice_grad_into_zeros as _slice_grad_into_zeros
from .internal import _uninitialised as _uninitialised
from .many_slices import *
from .ragged import *
from .ragged_variants import *
from .runtime import *
from .selection import *
from .sparse import *
from .tensor_array import *
from .tensor_array_container import *
from .types import *
