"""Pictures as SVG, for files and notebooks."""

from html import escape

from .._core import _svg
from .model import Picture


def svg(picture: Picture) -> str:
    """Draw a picture as SVG.

    Parameters
    ----------
    picture : Picture
        The picture, made by `of`.

    Returns
    -------
    str
        The text of an SVG file.

    Examples
    --------
    >>> import backslice as bs
    >>> from backslice import picture
    >>> drawing = picture.of(bs.Selection.from_index((4, 6), "1:3"))
    >>> picture.svg(drawing).startswith("<svg")
    True
    """
    panels = [
        (
            panel.title,
            [[(cell.kind.value, cell.text, float(cell.share)) for cell in row] for row in panel.rows],
            panel.row_labels,
            panel.column_labels,
        )
        for panel in picture.panels
    ]
    return _svg(picture.title, panels, picture.notes)


def html(picture: Picture) -> str:
    """Draw a picture as an HTML figure: the SVG, with a caption that can be copied.

    Parameters
    ----------
    picture : Picture
        The picture, made by `of`.

    Returns
    -------
    str
        A ``<figure>`` element.

    Examples
    --------
    >>> import backslice as bs
    >>> from backslice import picture
    >>> drawing = picture.of(bs.Selection.from_index((4, 6), "1:3"))
    >>> picture.html(drawing).startswith("<figure")
    True
    """
    return f'<figure style="margin: 0">{svg(picture)}<figcaption hidden>{escape(picture.title)}</figcaption></figure>'
