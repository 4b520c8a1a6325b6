"""Random programs of slice gradients in a framework, compared with the exact rules of this library.

>>> from backslice.verify import verify
>>> verify("torch", seconds=60).deviations
[]

The frameworks run in processes of their own; this module imports none of them.
"""

from ..suggestions import check_keywords as _check_keywords
from .programs import Report, torch_programs
from .running import Deviation, Outcome, verify

__all__ = ["Deviation", "Outcome", "Report", "torch_programs", "verify"]

_check_keywords(__name__)
