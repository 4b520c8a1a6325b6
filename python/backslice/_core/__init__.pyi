"""The extension module: its types, parameters, defaults and docstrings.

One stub per task. The build installs the signatures and docstrings in them on the module's functions and classes
(bindings/signatures.h), so this is the one place where they are written. The examples are tests; they assume
`import numpy as np` and `import backslice as bs`.
"""

from .dense import *
from .device import *
from .internal import *
from .internal import __version__ as __version__
from .internal import _code as _code
from .internal import _cuda_devices as _cuda_devices
from .internal import _cuda_versions as _cuda_versions
from .internal import _cut_axis as _cut_axis
from .internal import _disagreements as _disagreements
from .internal import _dlpack_capsule as _dlpack_capsule
from .internal import _entries_panel as _entries_panel
from .internal import _fail_small_slice as _fail_small_slice
from .internal import _guard_small_slice as _guard_small_slice
from .internal import _index_text as _index_text
from .internal import _numpy_dtype as _numpy_dtype
from .internal import _obstacles as _obstacles
from .internal import _palette as _palette
from .internal import _parse_integers as _parse_integers
from .internal import _parse_slice as _parse_slice
from .internal import _picture as _picture
from .internal import _register as _register
from .internal import _register_small_slices as _register_small_slices
from .internal import _remove_small_slices as _remove_small_slices
from .internal import _rows_picture as _rows_picture
from .internal import _select_text as _select_text
from .internal import _set_serial as _set_serial
from .internal import _set_small_slices as _set_small_slices
from .internal import _slice_grad_into_zeros as _slice_grad_into_zeros
from .internal import _svg as _svg
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
