"""Pages in Markdown, as a link leads into them."""

from pathlib import Path
import re


def anchor(heading: str) -> str:
    """Return what a link to this heading ends in."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    """Return those of all headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {anchor(heading) for heading in headings}
