"""Examples in the pages run as tests; the gallery runs when the site is built."""

collect_ignore_glob = ["*.py", "auto_*", "reference/generated/*", "results/*.md"]
