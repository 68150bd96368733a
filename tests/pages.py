"""HTML pages as a reader sees them."""

import json
from html.parser import HTMLParser

VOID = {"meta", "input"}


class Reader(HTMLParser):
    """The page as a reader sees it: its elements, whether they are closed in order, and its text."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.open, self.words, self.scripts = [], [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        if name not in VOID:
            self.open.append(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, words):
        if not self.open or self.open[-1] not in ("style", "script"):
            self.words.append(words)
        elif self.open[-1] == "script":
            self.scripts.append(words)

    @property
    def data(self):
        """What the script of the page shows."""
        return json.loads(self.scripts[0])

    def all(self, name):
        return [attributes for found, attributes in self.elements if found == name]

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def read(path):
    reader = Reader(path.read_text(encoding="utf-8"))
    assert reader.open == []
    return reader
