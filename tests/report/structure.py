"""A page taken apart."""

from html.parser import HTMLParser

VOID = {"meta", "input", "br"}
HOSTILE = "</script><img src=x onerror=alert(1)>\"'&{{ 7*7 }}"


class Structure(HTMLParser):
    """Check that elements are nested, and keep ids, headings, attributes and texts."""

    def __init__(self, page):
        super().__init__()
        self.open, self.elements, self.text = [], [], ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("script", "style"):
            self.text += data

    def count(self, tag, **wanted):
        return sum(
            name == tag and all(found.get(key) == value for key, value in wanted.items())
            for name, found in self.elements
        )
