"""The settings of the documentation site; `make docs` builds it."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "eocc"
copyright = "The eocc developers, BSD-3-Clause"
release = version_of("eocc")
version = release

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "sphinx_design",
    "matplotlib.sphinxext.plot_directive",
    "command_pages",
    "plain_docstrings",
    "source_pages",
]
exclude_patterns = ["gallery", "how_it_works", "_templates", "_ext"]  # the first two are sources of sphinx-gallery
templates_path = ["_templates"]
default_role = "code"
suppress_warnings = ["config.cache"]  # the settings of sphinx-gallery hold objects that cannot be pickled

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

# The pages of the reference
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
# What users of a classifier call; its other methods serve the rest of the library.
autosummary_context = {
    "methods_for_users": [
        *("fit", "fit_predict", "predict", "predict_or_abstain", "score_samples", "decision_function", "membership"),
        *("p_values", "drift", "explain", "explain_frame", "rules", "plot", "transform", "how_far_out", "save"),
        *("queries", "teach", "withdraw"),
    ],
}

# The executed pages
sphinx_gallery_conf = {
    "examples_dirs": ["gallery", "how_it_works"],
    "gallery_dirs": ["auto_gallery", "auto_how_it_works"],
    "filename_pattern": r"/[a-z]\w+\.py$",
    "subsection_order": ["gallery/finding", "gallery/explaining", "gallery/labels", "gallery/kinds_of_data"],
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "reference/generated/examples",
    "doc_module": ("eocc",),
    "prefer_full_module": {r"eocc\.\w+"},
    "image_srcset": ["2x"],
    "show_memory": False,
    "min_reported_time": 1000,
    "remove_config_comments": True,
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "download_all_examples": False,
}
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("png", 150)]
plot_include_source = False

# Pages with their contents at the right; the executed pages and the source need the room for code.
WITH_CONTENTS = ["start", "which", "changes"]
WITH_CONTENTS += [f"{folder}/**" for folder in ("guides", "reference", "results", "research", "contributing")]
html_theme = "pydata_sphinx_theme"
html_title = f"eocc {release}"
html_static_path = ["_static"]
html_favicon = "_static/logo.svg"
html_css_files = ["eocc.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_nav_level": 1,
    "navigation_depth": 3,
    "show_prev_next": True,
    "secondary_sidebar_items": {page: ["page-toc"] for page in WITH_CONTENTS},
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "logo": {"text": f"eocc {release}", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
}
html_sidebars = {"index": [], "start": [], "which": [], "changes": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
