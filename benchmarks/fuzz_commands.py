"""Run commands on tables with hostile names and cells: each gives a whole result, or one line that says what is wrong.

``python benchmarks/fuzz_commands.py [tables] [seed]`` makes 200 tables and runs about ten commands on each: fit, score
with summaries, discoveries and conditions, explain, inspect, report, export, teach and what else there is. A command
must end with the exit code 0, 1, 2 or 4, print at most one error line without control characters, and leave no drafts.
Scores have one line per row, summaries and messages are JSON, pages hold no markup from the data. A model of regions is
exported: the statement runs in SQLite and DuckDB and the module in Python, both with the decisions of the model and
without any other effect. The exit status is 1 if anything ends otherwise. The same seed gives the same commands.
"""

import contextlib
import csv
import io
import json
import os
import random
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import duckdb
import pandas as pd

from eocc import load
from eocc.cli.app import COMMANDS, main

MARKUP = "<img src=x onerror=alert(1)>"
ODD = [
    MARKUP, "'; DROP TABLE rows; --", 'a"b', "back\\slash", "\\'", "{x}", "%s", "é\u202e", "\x1b[31m", "tab\there",
    "__import__('os').system('touch pwned')", '"""', "'''", "line\nend", "nul\0", "NaN", "null", "", " ", "=1+1",
    "x" * 300, "select", "row", "score", "decision", "\u2028", "1e999", "-0", "€5", "12%", "2031-12-01", "0x1F",
    "ß", "ẞ", "İ", "A", "a", "*/", "/*", "--", ";", "<!--", "]]>", "</script>", "1_000", "Infinity",
    "\ufeff", "$(touch pwned)", "\U0001f600",
]  # fmt: skip

GAPS = ["", " ", "NaN", "null"]


def table(rng, n):
    """Return names and rows of a table with some hostile names and cells."""
    width = rng.randint(1, 5)
    names = list(dict.fromkeys(rng.choice([f"c{k}", f"c{k}", rng.choice(ODD)]) for k in range(width)))
    columns = []
    for _ in names:
        words = rng.sample(ODD, 3)
        columns.append(rng.choice([
            lambda: f"{rng.gauss(0, 1):.3f}", lambda: f"{rng.gauss(0, 1):.3f}", lambda w=words: rng.choice(w),
            lambda: str(rng.randint(0, 3)), lambda: rng.choice(["yes", "no"]),
            lambda w=words: rng.choice(["1.5", "2.5", "3", w[0]]),
        ]))  # fmt: skip
    rows = [[make() for make in columns] for _ in range(n)]
    return names, rows


def write(path, names, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)


def run(*words):
    """Return the exit code of a command, and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in words])
    return code, out.getvalue(), err.getvalue()


def commands(rng, folder):
    """Return the commands after fit."""
    model, new = folder / "m.eocc", folder / "new.csv"
    score = ["score", model, new, "--summary", folder / "sum.json", *rng.choice([[], ["--fdr", "0.2"]])]
    score += rng.choice([[], ["--fail-on", "drift,rejected>2"], ["--only", "rejected"], ["--strict"]])
    some = [
        [*score, "-o", folder / f"s.{rng.choice(['csv', 'json', 'parquet'])}"],
        [*score, "--format", rng.choice(["csv", "json", "table"])],
        ["explain", model, new, "--format", rng.choice(["csv", "json", "text"])],
        ["inspect", model], ["report", model, "--data", new, "-o", folder / "r.html"],
        ["export", model, "--to", rng.choice(["sql", "python", "json"]), "--table", "rows"],
        ["export", model, "--to", "sql", "--table", rng.choice(ODD), "--dialect", rng.choice(["sqlite", "postgres"])],
        ["review", model, new, "-o", folder / "review.html"],
        ["score", model, new, "--id", rng.choice(ODD), "--log-format", "json"],
    ]  # fmt: skip
    if "update" in COMMANDS:
        some.append(["update", model, new, "-o", folder / "updated.eocc"])
    return some


def check_result(words, code, out, err, folder, n_rows):
    """Raise an AssertionError if a command broke a promise."""
    assert code in (0, 1, 2, 4), f"exit code {code}: {err[-300:]}"
    in_json = "--log-format" in words
    lines = err.split("\n")[:-1]
    if in_json:
        assert all(isinstance(json.loads(line), dict) for line in lines), f"no JSON: {err[:300]!r}"
    else:
        assert all(line.isprintable() for line in lines), f"not printable: {err[:300]!r}"
        errors = [line for line in lines if line.startswith("eocc: ")]
        assert len(errors) == (code in (1, 2, 4)), f"{len(errors)} errors with exit code {code}: {err[:300]!r}"
    drafts = [path.name for path in folder.rglob("*.tmp*")]
    assert not drafts, f"drafts are left: {drafts}"
    assert not (folder / "pwned").exists(), "code ran"  # the commands run in this folder
    if words[0] == "score" and code in (0, 4):
        if "--summary" in words:
            summary = json.loads((folder / "sum.json").read_text(encoding="utf-8"))
            assert isinstance(summary, dict)
        if "--only" not in words and (folder / "s.csv").exists():
            with (folder / "s.csv").open(encoding="utf-8", newline="") as file:
                assert len(list(csv.reader(file))) == n_rows + 1, "rows are missing"
    for page in folder.glob("*.html"):
        assert MARKUP not in page.read_text(encoding="utf-8"), "markup from the data"
    for path in folder.iterdir():
        if path.name not in ("m.eocc", "new.csv", "normal.csv"):
            path.unlink()


def check_export(folder, names, rows):
    """Raise an AssertionError unless exports of a model of regions decide as the model does; return how it ended.

    Exports give no decision on rows with gaps.
    """
    model = load(folder / "m.eocc")
    frame = pd.DataFrame(rows, columns=names)
    is_plain = frame.map(lambda cell: cell.strip() == cell.strip(" ")).all(axis=1)  # databases trim spaces only
    frame = frame[is_plain].reset_index(drop=True)
    if frame.empty:
        return "not compared"
    reading = model._known_data
    numbers = [one.name for one in reading.columns if one.kind == "number"]
    if {one.kind for one in reading.columns} - {"number", "text"} or not (
        all(pd.to_numeric(frame[name].replace(GAPS, "0"), errors="coerce").notna().all() for name in numbers)
    ):
        return "not compared"
    try:
        statements = {kind: model.to_sql(["rows"], kind, keep=["_place_"]) for kind in ("sqlite", "duckdb")}
        module, used = model.to_python(), [one["name"] for one in json.loads(model.to_json())["columns"]]
    except ValueError as error:
        return "not exported" if str(error).isprintable() else f"BAD {error!r}"
    decisions = model.predict(frame[[name for name in names if name not in model.ignored_columns_]]).tolist()
    decisions = [None if gap else one for gap, one in zip(frame[used].isin(GAPS).any(axis=1), decisions, strict=True)]
    for name in numbers:
        frame[name] = pd.to_numeric(frame[name], errors="coerce")
    table = frame.assign(_place_=range(len(frame)))
    base = sqlite3.connect(":memory:")
    table.to_sql("rows", base, index=False)
    assert in_order(pd.read_sql(statements["sqlite"], base)) == decisions, "SQLite decides otherwise"
    assert base.execute("SELECT count(*) FROM sqlite_master").fetchone() == (1,), "SQLite has another table"
    with duckdb.connect() as duck:
        duck.register("given", table)
        duck.execute("CREATE TABLE rows AS SELECT * FROM given")
        assert in_order(duck.execute(statements["duckdb"]).df()) == decisions, "DuckDB decides otherwise"
    scope = {"__name__": "exported"}
    exec(compile(module, "exported.py", "exec"), scope)
    assert [scope["predict"](record) for record in frame.to_dict("records")] == decisions, "Python decides otherwise"
    return "exports agree"


def in_order(found):
    """Return the decisions of a query, in the order of the rows, None for NULL."""
    return [None if pd.isna(one) else one for one in found.sort_values("_place_")["decision"].tolist()]


def one_table(number, seed, folder, tell):
    """Return how the commands on one table ended, counted; tell of what is bad."""
    rng, ended = random.Random(f"{seed} {number}"), Counter()
    names, rows = table(rng, rng.choice([5, 30, 60]))
    write(folder / "normal.csv", names, rows)
    new = [rng.choice(rows) for _ in range(8)] + [[rng.choice([cell, rng.choice(ODD)]) for cell in rows[0]]]
    write(folder / "new.csv", names, new)
    method = rng.choice(["surprise", "regions", "regions", "eocc-1"])
    fit = ["fit", folder / "normal.csv", "--method", method, "-o", folder / "m.eocc"]
    fit += ["--skip-incomplete"] * (rng.random() < 0.2)
    for words in [fit, *commands(rng, folder)]:
        try:
            result = run(*words)
            check_result(words, *result, folder, len([row for row in new if len(row) > 1 or row[0].strip()]))
            ended[f"{words[0]}: exit code {result[0]}"] += 1
            if words is fit and result[0] == 0 and method == "regions":
                known = [names[0].removeprefix("\ufeff").strip() or "column 1", *names[1:]]
                ended[f"export: {check_export(folder, known, rows)}"] += 1
        except Exception as error:
            ended[f"{words[0]}: BAD"] += 1
            tell(f"table {number}, {' '.join(map(str, words))[:200]}: {type(error).__name__}: {str(error)[:400]!r}")
        if words is fit and not (folder / "m.eocc").exists():
            break
    return ended


def attack(n_tables, seed, tell=print):
    """Return how all commands ended, counted."""
    counts = Counter()
    for number in range(n_tables):
        with tempfile.TemporaryDirectory() as home:
            before = Path.cwd()
            os.chdir(home)
            try:
                counts += one_table(number, seed, Path(home), tell)
            finally:
                os.chdir(before)
    return counts


if __name__ == "__main__":
    n_tables, seed = (int(word) for word in (*sys.argv[1:], *("200", "0")[len(sys.argv) - 1 :]))
    started = time.perf_counter()
    counts = attack(n_tables, seed, lambda text: print(text, flush=True))
    for ended, count in sorted(counts.items()):
        print(f"{count:7d}  {ended}")
    n_bad = sum(count for ended, count in counts.items() if "BAD" in ended)
    print(f"{n_tables} tables, {sum(counts.values())} commands in {time.perf_counter() - started:.0f} s, {n_bad} bad")
    sys.exit(1 if n_bad else 0)
