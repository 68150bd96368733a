"""Draw the rooms of the package in the order of the data flow; the list is the docstring of the package."""

import re
from pathlib import Path

import matplotlib.pyplot as plt

import eocc

SOURCE = Path(eocc.__file__).parent
ROOMS = re.findall(r"^- ``(\w+)``\s+(.+)$", eocc.__doc__, re.MULTILINE)
GROUPS = {  # what a group of rooms is for, and its colour
    "compare": ("#0072b2", ("base", "tables", "measures", "scale", "space", "neighbours")),
    "learn": ("#009e73", ("entropic", "ellipsoids", "calibration", "surprise")),
    "answer": ("#d55e00", ("explain", "formats", "classifiers", "streaming", "plots", "report", "cli", "integrations")),
    "study": ("#7b8794", ("rivals", "datasets", "experiments")),
}


def lines_of(room):
    """Return the number of lines of a room."""
    return sum(len(path.read_text().splitlines()) for path in (SOURCE / room).rglob("*.py"))


figure, axes = plt.subplots(figsize=(7.2, 0.36 * len(ROOMS) + 0.4), layout="constrained")
for place, (room, text) in enumerate(ROOMS):
    colour = next((colour for colour, rooms in GROUPS.values() if room in rooms), "#7b8794")
    axes.add_patch(plt.Rectangle((0, place - 0.4), 2.1, 0.84, color=colour, alpha=0.85))
    axes.text(0.08, place, room, color="white", va="center", weight="bold")
    axes.text(2.03, place, f"{lines_of(room):,}", color="white", va="center", ha="right", fontsize=8)
    axes.text(2.2, place, text, va="center", fontsize=9)
for name, (colour, _) in GROUPS.items():
    axes.plot([], [], "s", color=colour, label=name)
axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.05), ncols=4, frameon=False)
axes.set(xlim=(0, 7.9), ylim=(len(ROOMS) - 0.4, -0.6))
axes.axis("off")
