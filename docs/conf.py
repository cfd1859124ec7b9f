"""How the pages become a site: ``make docs``, or ``sphinx-build -W docs site``."""

import sys
from pathlib import Path

from protolabel.version import __version__

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "protolabel"
author = "The protolabel developers"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "docstrings",
    "examples",
    "mathml",
    "navigation",
    "outside",
    "pictures",
    "reference",
]
exclude_patterns = ["_extensions", "pictures", "Thumbs.db", ".DS_Store"]
source_suffix = {".md": "markdown"}

# A link or a reference that leads nowhere ends the build (together with -W).
nitpicky = True
# Types in docstrings are meant for people; of the packages of others there is no index here.
nitpick_ignore_regex = [(r"py:.*", r"(?!protolabel\b).*")]

# Written after long experiments.
optional_pages = ["recommended", "ingredients", "speed", "scale"]

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

autodoc_typehints = "none"
autodoc_member_order = "bysource"
# Made by scikit-learn, with references into its own pages.
autodoc_default_options = {
    "exclude-members": (
        "set_fit_request, set_partial_fit_request, set_score_request, set_split_request"
    ),
}
autosummary_generate = False
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
add_module_names = False
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"protolabel {__version__}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "monokai"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5fa8", "color-brand-content": "#1f5fa8"},
    "dark_css_variables": {"color-brand-primary": "#7db4f0", "color-brand-content": "#7db4f0"},
}
