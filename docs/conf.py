"""How Sphinx builds the manual: `make docs`. Nothing is fetched from elsewhere, and the pages work from disk."""

import sys
from pathlib import Path

import backslice

HERE = Path(__file__).parent
BUILD = HERE.parent / "build"
sys.path.insert(0, str(HERE / "extensions"))
from inventories import write_inventories  # noqa: E402

project = "backslice"
author = "the backslice authors"
copyright = author
version = release = backslice.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "breathe",
    "sphinx_copybutton",
    "example_pages",
    "headers",
]
exclude_patterns = ["extensions", "inventories"]

myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

suppress_warnings = ["duplicate_declaration.cpp"]  # the namespace, once per header
nitpicky = False
default_role = None
toc_object_entries_show_parents = "hide"
highlight_language = "none"
copybutton_prompt_text = r">>> |\.\.\. |\$ |> "
copybutton_prompt_is_regexp = True

intersphinx_mapping = write_inventories(HERE / "inventories", BUILD / "inventories")

autodoc_default_options = {"member-order": "bysource"}
autodoc_typehints = "none"  # the docstrings say more
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = {
    "of",
    "or",
    "and",
    "optional",
    "default",
    "shape",
    "any",
    "dtype_like",
    "sequence",
    "callable",
    "these",
    "other",
    "writable",
    "array",
    "with",
    "DLPack",
    "sparse",
    "matrix",
}
numpydoc_xref_aliases = {
    "array_like": ":term:`numpy:array_like`",
    "ndarray": "numpy.ndarray",
    "dtype": "numpy.dtype",
    "slice": ":class:`python:slice`",  # not backslice.slice
    "iterable": ":term:`python:iterable`",
    "path": ":class:`python:os.PathLike`",
    "RaggedTensor": "backslice.RaggedTensor",
    "Selection": "backslice.Selection",
    "PreparedSlice": "backslice.PreparedSlice",
    "TensorArray": "backslice.TensorArray",
    "VariantArray": "backslice.VariantArray",
    "GradBuffer": "backslice.GradBuffer",
    "Picture": "backslice.picture.Picture",
}

breathe_projects = {"backslice": str(BUILD / "doxygen" / "xml")}
breathe_default_project = "backslice"
breathe_show_include = False
breathe_separate_member_pages = False
cpp_id_attributes = ["BACKSLICE_EXPORT"]

html_theme = "pydata_sphinx_theme"
html_title = "backslice"
html_static_path = ["static"]
html_extra_path = ["../build/explorer/slice_explorer.html"]  # make explorer builds it
html_css_files = ["manual.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # they are fetched page by page, which browsers refuse from disk
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}
html_context = {"default_mode": "auto"}
