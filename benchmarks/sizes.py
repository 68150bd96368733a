"""Lines and named numeric constants of every room, beside those of the last release.

``make check`` prints this table, so that growth is seen. ``--record`` writes the present figures as those of a release.
"""

import argparse
import ast
import csv
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
RELEASE = Path(__file__).with_suffix(".csv")


def named_numbers(source: str) -> int:
    """Return how many names in capitals a module sets to numbers or to expressions of numbers alone."""
    count = 0
    for node in ast.parse(source).body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        names = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
        if names and all(name.strip("_").isupper() for name in names) and node.value and _is_number(node.value):
            count += len(names)
    return count


def _is_number(value: ast.expr) -> bool:
    """Return whether an expression holds numbers and no text, calls or tables."""
    parts = list(ast.walk(value))
    numbers = [part for part in parts if isinstance(part, ast.Constant)]
    plain = (
        ast.Constant | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop | ast.Tuple | ast.Name | ast.expr_context
    )
    return (
        bool(numbers)
        and all(type(number.value) in (int, float) for number in numbers)
        and all(isinstance(part, plain) for part in parts)
    )


def sizes(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the lines and the named numbers of every room of a source folder."""
    lines, constants = Counter[str](), Counter[str]()
    for path in sorted(folder.rglob("*.py")):
        room, source = path.relative_to(folder).parts[0].removesuffix(".py"), path.read_text()
        lines[room] += len(source.splitlines())
        constants[room] += named_numbers(source)
    return {room: (count, constants[room]) for room, count in lines.most_common()}


def main() -> None:
    """Print the table, or record it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "src" / "eocc", help="the source to count")
    parser.add_argument("--record", metavar="VERSION", help="write the figures as those of this release")
    options = parser.parse_args()
    now = sizes(options.folder)
    if options.record:
        with RELEASE.open("w", newline="") as file:
            csv.writer(file).writerows([["room", options.record, "constants"], *([r, *s] for r, s in now.items())])
        return
    (_, version, _), *rows = csv.reader(RELEASE.read_text().splitlines())
    before = {room: (int(lines), int(constants)) for room, lines, constants in rows}
    print(f"{'lines, constants':17}{'now':>8}{'':5}{version:>10}{'':5}{'change':>10}")
    total = {"together": [sum(column) for column in zip(*now.values(), strict=True)]}
    total_before = {"together": [sum(column) for column in zip(*before.values(), strict=True)]}
    rooms = {**now, **{room: (0, 0) for room in before if room not in now}, **total}
    for room, (lines, constants) in rooms.items():
        old, old_constants = {**before, **total_before}.get(room, (0, 0))
        change = f"{lines - old:+,}{constants - old_constants:+5}"
        print(f"{room:17}{lines:8,}{constants:5}{old:10,}{old_constants:5}{change:>15}")


if __name__ == "__main__":
    main()
