"""Holds the coverage report against what this project promises.

usage: check_coverage.py coverage.json
"""

from collections.abc import Iterator, Mapping
import json
from pathlib import Path
import sys
from typing import Any

PACKAGE = "custom_components/proactive_agent/"
OVERALL = 95.0
COMPLETE = ("engine/", "config_flow.py", "subentry_flow.py", "flows/schemas.py")

SHOWN = 12  # gaps named for each file


def shortfalls(report: Mapping[str, Any]) -> Iterator[str]:
    """Say in a line each what is covered less than promised."""
    overall = report["totals"]["percent_covered"]
    if overall <= OVERALL:
        yield f"overall: {overall:.2f} %, must be over {OVERALL:.0f} %"
    files = {name.replace("\\", "/"): file for name, file in report["files"].items()}
    for part in COMPLETE:
        if not any(name.startswith(PACKAGE + part) for name in files):
            yield f"{part}: nothing of it is in the report"
    for name, file in sorted(files.items()):
        if not name.startswith(tuple(PACKAGE + part for part in COMPLETE)):
            continue
        gaps = [str(line) for line in file["missing_lines"]]
        gaps += [f"{start}->{end}" for start, end in file["missing_branches"]]
        if gaps:
            percent = file["summary"]["percent_covered"]
            shown = ", ".join(gaps[:SHOWN]) + (" …" if len(gaps) > SHOWN else "")
            yield f"{name}: {percent:.2f} %, must be 100 % (missing: {shown})"


def main(path: Path) -> int:
    """Print each shortfall; the number of them decides the exit status."""
    report = json.loads(path.read_text(encoding="utf-8"))
    found = list(shortfalls(report))
    for line in found:
        print(line)
    if not found:
        print(f"overall: {report['totals']['percent_covered']:.2f} %")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
