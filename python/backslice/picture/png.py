"""Pictures as PNG, with matplotlib."""

import os
from typing import Any

from .model import Kind, Panel, Picture
from .style import FAINT, FILL, INK, column_labels, opacity, text_colour


def png(picture: Picture, path: str | os.PathLike[str]) -> None:
    """Draw a picture into a PNG file, with matplotlib.

    Parameters
    ----------
    picture : Picture
        The picture, made by `of`.
    path : str or path
        The file to write.

    Returns
    -------
    None
        The picture is in the file.

    Examples
    --------
    >>> import backslice as bs
    >>> from backslice import picture
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> drawing = picture.of(bs.Selection.from_index((4, 6), "1:3"))
    >>> with TemporaryDirectory() as folder:
    ...     picture.png(drawing, Path(folder) / "slice.png")
    """
    from matplotlib.figure import Figure  # not pyplot, whose backend is the user's choice

    panels = picture.panels or [Panel("", [])]
    across = min(3, len(panels))
    down = -(-len(panels) // across)
    widest = max(max(panel.columns for panel in panels), 1)
    tallest = max(max(len(panel.rows) for panel in panels), 1)
    title_width = 0.092 * len(picture.title) + 0.2
    size = (
        max(5.0, title_width, across * (0.36 * widest + 0.8)),
        down * (0.27 * tallest + 0.7) + 0.4 + 0.25 * len(picture.notes),
    )
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(down, across, squeeze=False)
    figure.suptitle(picture.title, fontsize=10, fontweight="bold", color=INK)
    for place in axes.flat:
        place.set_axis_off()
    for panel, place in zip(panels, axes.flat, strict=False):
        _draw(panel, place)
    if picture.notes:
        figure.supxlabel("\n".join(picture.notes), fontsize=8, color=FAINT)
    figure.savefig(path, dpi=110, format="png")


def _draw(panel: Panel, place: Any) -> None:
    from matplotlib.patches import Rectangle

    place.set_title(panel.title, fontsize=8, color=INK, loc="left")
    place.set(xlim=(-0.6, max(panel.columns, 1)), ylim=(max(len(panel.rows), 1), -0.8))
    for i, row in enumerate(panel.rows):
        if panel.row_labels:
            place.text(-0.15, i + 0.5, panel.row_labels[i], ha="right", va="center", fontsize=7, color=FAINT)
        for j, cell in enumerate(row):
            style: dict[str, Any] = {"facecolor": FILL.get(cell.kind, "none"), "alpha": opacity(cell)}
            if cell.kind is Kind.EMPTY:
                style["edgecolor"] = FILL[Kind.LEFT]
            place.add_patch(Rectangle((j + 0.04, i + 0.06), 0.92, 0.88, **style))
            if cell.text:
                colour = text_colour(cell)
                place.text(j + 0.5, i + 0.5, cell.text, ha="center", va="center", fontsize=7, color=colour)
    for j, label in column_labels(panel.column_labels).items():
        place.text(j + 0.5, -0.1, label, ha="center", va="bottom", fontsize=7, color=FAINT)
