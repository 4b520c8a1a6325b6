"""Pictures of slices and of ragged rows: in the terminal, as SVG and as PNG.

`of` makes a `Picture`, which `svg`, `html` and `png` draw.

>>> import backslice as bs
>>> from backslice import picture
>>> drawing = picture.of(bs.Selection.from_index((4, 6), "1:3, ::2"))
>>> drawing.title
'x[1:3, ::2] of shape [4, 6] gives shape [2, 3]'
>>> picture.svg(drawing).startswith("<svg")
True
"""

from .._core import RaggedTensor, Selection
from ..suggestions import check_keywords as _check_keywords
from .containers import of_ragged
from .model import Cell, Kind, Limits, Panel, Picture
from .png import png
from .selections import of_selection
from .svg import html, svg

__all__ = ["Cell", "Kind", "Limits", "Panel", "Picture", "html", "of", "png", "svg"]


def of(drawn: Selection | RaggedTensor, limits: Limits | None = None) -> Picture:
    """Make the picture of a selection or a ragged tensor.

    Parameters
    ----------
    drawn : Selection or RaggedTensor
        The selection or tensor to draw.
    limits : Limits, optional
        The most cells to draw; more elements are drawn as blocks.

    Returns
    -------
    Picture

    Examples
    --------
    >>> import backslice as bs
    >>> from backslice import picture
    >>> picture.of(bs.RaggedTensor.from_list([[1, 2], [3]])).title
    'RaggedTensor of shape [2, None], dtype int64'
    """
    return of_selection(drawn, limits) if isinstance(drawn, Selection) else of_ragged(drawn, limits)


_check_keywords(__name__)
