# How Sphinx turns the Markdown pages into a static site (scripts/make-site.sh). Nothing is fetched, neither when it is built
# nor when it is read: the theme and the search index are files of the site.
project = "advise"
author = "the authors of advise"
copyright = ""
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["site"]
html_theme = "alabaster"
html_theme_options = {
    "description": "What is slow on the GPU, and how to fix it",
    "fixed_sidebar": True,
    "page_width": "70em",
    "sidebar_width": "17em",
}
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html", "relations.html"]}
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
# Summaries of search results would be fetched from the pages, which browsers refuse for files.
html_show_search_summary = False
html_last_updated_fmt = None
# Links to files outside of docs/ (rules, kb, README) lead nowhere in the site, and code blocks may be of any language.
suppress_warnings = ["ref.myst", "myst.xref_missing", "myst.header", "misc.highlighting_failure", "toc.not_readable", "myst.nested_header"]
