"""A path, an array or chunks of rows -> passes over the rows, a model of rows chosen by content, and its threshold."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from zlib import adler32

import numpy as np

from eocc.base.arguments import fitting
from eocc.base.checks import integer
from eocc.base.printing import complaint, quoted, warn_user
from eocc.base.progress import stage, track
from eocc.base.registry import choose
from eocc.base.threads import in_order, n_threads
from eocc.base.wording import counted
from eocc.classifiers.base import OneClassClassifier
from eocc.formats.files.formats import STDIN, check_regular, is_pipe, numbered, open_files
from eocc.formats.files.rows import Choices, Chunk, Objects, learn, read_first, read_part, rows_per_chunk
from eocc.measures import measures_of
from eocc.measures.auto import is_pairwise
from eocc.scale.passes import READING, Part
from eocc.tables import TableWarning
from eocc.tables.reading import ANY, DECLARED, Reading, say_remarks
from eocc.tables.sources import column_of_array, table_of
from eocc.tables.spelling import Dialect
from eocc.tables.table import NUMBER, Table, rows_with

Classifier = TypeVar("Classifier", bound=OneClassClassifier)
Result = TypeVar("Result")
# What happens to rows with a missing value, or a cell that cannot be read.
REFUSE, SKIP = "refuse", "skip"
# What errors call data that are in no file.
NO_FILE = "the source"


@dataclass(eq=False)
class Source:
    """The rows of `chunks()` that are chosen, and passes over them on `count` threads, as rows of numbers.

    `n_rows` is their number and `ends` (2, d) their least and largest values; both are known after the first pass, the
    number also before it if the source is an array.
    """

    chunks: Callable[[], Iterator[Chunk]]
    choices: Choices
    n_rows: int | None = None
    count: int = 1
    reading: Reading | None = None
    ends: Any = field(default=None, init=False)
    _checksum: int | None = field(default=None, init=False)

    @property
    def n_columns(self) -> int | None:
        """The number of columns, known after the first pass."""
        return None if self.ends is None else self.ends.shape[1]

    def parts(self, known: Reading | Objects | None = None, allows_gaps: bool = False) -> Iterator[Part]:
        """Yield all rows from the first as the model takes them; without a reading, as rows of numbers."""
        bad = list[str]()
        for chunk in filter(len, self.chunks()):
            if known is None:
                known = read_first(chunk, self.choices)[0].for_numbers(True, "a stream")
            part = read_part(self.choices.chosen(chunk), known, self.choices, allows_gaps, known.spelling)
            bad += [f"{chunk.where}: {why}" for why in part.faults.values()]
            if part.good.any():
                yield Part(part.X, np.asarray(part.chunk.rows)[part.good])
        say_left_out(bad)

    def empty(self) -> ValueError:
        """Return the error that there are no rows of the kind that is used."""
        column, value = self.choices.where or ("", "")
        values = " or ".join(repr(str(one)) for one in (value if isinstance(value, list) else [value]))
        which = f" with {column} = {values}" if self.choices.where else ""
        which += " without missing values" if self.choices.skips_incomplete else ""
        return ValueError(f"the source holds no rows{which}; at least 1 is required")

    def fold(
        self, work: Callable[[Part], Result], join: Callable[[Result, Result], Result], name: str = READING
    ) -> Result:
        """Return the results of all parts, joined in order; raise a ValueError if the rows are not those of before."""

        def worked(part: Any) -> tuple[Part, Result, int, Any]:
            rows = Part(part.values.patterns, part.numbers)
            ends = [rows.values.min(axis=0), rows.values.max(axis=0)] if is_first else None
            return rows, work(rows), adler32(part.values.patterns), ends

        n_seen, checksum, results, is_first = 0, 1, list[Result](), self._checksum is None
        with stage(name, self.n_rows or 1) as report:  # one step: a file says how much of it has been read
            for part, result, its_sum, ends in in_order(worked, self.parts(self.reading), self.count):
                if is_first:
                    before = self.ends if n_seen else ends
                    self.ends = np.array([np.minimum(before[0], ends[0]), np.maximum(before[1], ends[1])])
                n_seen += len(part.values)
                checksum = adler32(its_sum.to_bytes(4, "little"), checksum)
                results = [join(results[0], result) if results else result]
                if self.n_rows:
                    report(n_seen)
        if not n_seen:
            raise self.empty()
        if is_first:
            self.n_rows, self._checksum = n_seen, checksum
        if (n_seen, checksum) != (self.n_rows, self._checksum):
            changed = "it has other values" if n_seen == self.n_rows else f"it had {self.n_rows} rows, then {n_seen}"
            raise ValueError(f"the source changed while it was read: {changed}; try again when nothing writes to it")
        return results[0]


def say_left_out(bad: Sequence[str]) -> None:
    """Warn of rows with cells that cannot be read, each given by its place and the reason, which are left out."""
    if bad:
        rows = counted(len(bad), "row")
        warn_user(f"{rows} with cells that cannot be read left out ({bad[0]})", TableWarning)


def source_of(
    source: Any, incomplete: str = REFUSE, unreadable: str = REFUSE, dialect: Dialect | None = None, **choices: Any
) -> Source:
    """Return the source of a path, an array or chunks of rows; `choices` are fields of Choices.

    >>> [part.values.patterns.tolist() for part in source_of(np.split(np.arange(8).reshape(4, 2), 2)).parts()]
    [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]]
    """
    choose("value of incomplete", dict.fromkeys((REFUSE, SKIP)), incomplete)
    choose("value of unreadable", dict.fromkeys((REFUSE, SKIP)), unreadable)
    chosen = Choices(skips_incomplete=incomplete == SKIP, skips_bad=unreadable == SKIP, **choices)
    if chosen.where is not None and not (isinstance(chosen.where, tuple) and len(chosen.where) == 2):
        raise ValueError(f"where must be a column and its value, for example ('state', 'good'), not {chosen.where!r}")
    n_rows: int | None = None
    given = source if isinstance(source, list) and source else [source]
    if all(isinstance(one, str | os.PathLike) for one in given):
        paths = [path for one in given for path in files_of(Path(one))]
        chunks: Callable[[], Iterator[Chunk]] = partial(_of_files, paths, dialect)
    elif hasattr(source, "shape") and hasattr(source, "__getitem__"):
        n_rows, chunks = _length_of(source), partial(_of_array, source)
    elif isinstance(source, Iterable):
        chunks = partial(_of_parts, source)
    else:
        raise ValueError(f"a source is a path, an array or chunks of rows, not a {type(source).__name__}")
    return Source(chunks, chosen, n_rows if chosen.where is None and incomplete == unreadable == REFUSE else None)


def _of_files(paths: Sequence[Path], dialect: Dialect | None) -> Iterator[Chunk]:
    several = paths if len(paths) == 1 else track(f"reading {len(paths):,} files", paths)
    return open_files(several, dialect=dialect)


def _of_array(array: Any) -> Iterator[Chunk]:
    by_place = getattr(array, "iloc", array)  # slices of a frame itself go by its index
    step = rows_per_chunk(array.shape[1])
    starts = track("reading rows", range(0, array.shape[0], step))
    return _of_parts(by_place[start : start + step] for start in starts)


def _of_parts(parts: Iterable[Any]) -> Iterator[Chunk]:
    return numbered(map(_chunk, parts))


def _chunk(part: Any) -> Chunk:
    """Return an array or a frame as a chunk; columns are found by name if all names are text, as in scikit-learn."""
    labels = list(getattr(part, "column_names", getattr(part, "columns", ())))  # of Arrow tables or of frames
    if any(isinstance(label, str) for label in labels):
        for odd in (label for label in labels if not isinstance(label, str)):
            raise ValueError(f"the name of column {odd!r} is not text, other names are; rename it")
        return Chunk(NO_FILE, table_of(part) if len(part) else None)
    cells = np.asarray(part)
    if cells.ndim != 2:
        remedy = "pass rows as one array, or chunks of many rows each"
        raise ValueError(f"a chunk of shape {cells.shape} has {cells.ndim} dimensions, not 2; {remedy}")
    if cells.dtype.kind == "c":
        raise ValueError("the source holds complex numbers; pass real and imaginary parts as separate columns")
    columns = tuple(column_of_array(str(k), column) for k, column in enumerate(cells.T))
    return Chunk(NO_FILE, Table(columns) if len(cells) else None, is_named=False)


def _length_of(array: Any) -> int:
    if len(array.shape) != 2:
        raise ValueError(f"an array of rows has 2 dimensions, not {len(array.shape)}")
    if not isinstance(array.shape[0], int | np.integer):
        kind = f"{type(array).__module__.partition('.')[0]} {type(array).__name__}"
        remedy = "pass it to fit, or pass a list of chunks of rows"
        raise ValueError(f"the length of this {kind} is not known; {remedy}")
    return int(array.shape[0])


def check_classifier(function: str, classifier: Any) -> None:
    """Raise a ValueError unless the first argument of the function is a classifier."""
    if not isinstance(classifier, OneClassClassifier):
        passed = repr(str(classifier)) if isinstance(classifier, Path | str) else f"a {type(classifier).__name__}"
        raise ValueError(f"{function} takes a classifier first, not {passed}: write {function}(clf, source, ...)")


def files_of(path: Path) -> list[Path]:
    """Return the file, or the files of a folder sorted by name, without those that start with . or _."""
    if path == STDIN:
        raise ValueError("standard input cannot be read twice; pass a path")
    if not path.is_dir():
        if not is_pipe(path):
            check_regular(path)
        return [path]
    found = [inside for inside in sorted(path.rglob("*")) if inside.is_file()]
    found = [inside for inside in found if not any(part[0] in "._" for part in inside.relative_to(path).parts)]
    if not found:
        raise complaint(str(path), None, "holds no files")
    suffixes = sorted({inside.suffix.lower() for inside in found})
    if len(suffixes) > 1:
        kinds = ", ".join(map(quoted, suffixes))
        raise complaint(str(path), None, f"holds files of several kinds, {kinds}; keep one kind")
    return found


def fit_stream(
    classifier: Classifier, source: Any, *, sample: int | None = None, where: tuple[Any, Any] | None = None,
    outliers: Any = None, incomplete: str = REFUSE, dialect: Dialect | None = None, drop: Sequence[Any] = (),
    keeps_all: bool = False, kinds: Mapping[Any, str] | None = None, unreadable: str = REFUSE,
) -> Classifier:  # fmt: skip
    """Fit the classifier to all rows of a source, in memory for the rows it keeps and a few chunks; return it.

    The source is read three times, its first chunk once more. The first two passes choose rows by their content, to
    which the classifier is fitted: see `eocc.space.prototypes.content`. The third pass scores every row and
    calibrates: at most a share `false_alarm_rate` of all rows lies beyond the threshold. SurpriseClassifier gives the
    model of `fit` on the same rows, bit for bit; its parameter `prototypes` says how many rows it keeps.
    EntropicOneClassClassifier is fitted to `sample` rows. It is calibrated only if it has a rate, on the rows that it
    was not fitted to; if these are fewer than the others, the fit itself calibrates.

    A table with other columns than numbers, as its first chunk shows, is read into memory at once, and fitted as by
    `fit`. The model does not depend on the chunks. A fit that needs more than `max_memory` is refused after
    the first pass.

    The classifier gets two more attributes, which a model file does not keep: `n_rows_seen_`, the number of rows used,
    and `training_indices_`, the numbers of the rows that it was fitted to.

    >>> from eocc import SurpriseClassifier
    >>> rows = np.random.default_rng(0).normal(size=(1000, 2))
    >>> clf = fit_stream(SurpriseClassifier(prototypes=200), [rows[:700], rows[700:]])
    >>> clf.n_rows_seen_, len(clf.training_indices_)
    (1000, 200)
    >>> clf.predict([[0.0, 0.0], [9.0, 9.0]])
    array([ 1, -1])
    """
    check_classifier("fit_stream", classifier)
    if sample is not None:
        integer(1)("sample", sample)
    if isinstance(source, Iterator):
        raise ValueError("an iterator can be read only once; pass a list, or an object whose __iter__ starts again")
    for one in source if isinstance(source, list) else [source]:
        if isinstance(one, str | os.PathLike) and is_pipe(Path(one)):
            raise ValueError(f"{str(one)!r} is a pipe, which can be read only once; write it to a file first")
    if outliers is not None and where is None:
        raise ValueError("outliers needs where, the rows that are normal, for example where=('state', 'good')")
    for kind in (kinds or {}).values():
        choose("kind", DECLARED, kind)
    with fitting(classifier) as draft:
        if is_pairwise(draft.measure):
            raise ValueError("a stream holds rows, not dissimilarities; choose a measure of rows of numbers")
        named = isinstance(draft.measure, str)
        stream = source_of(
            source, incomplete, unreadable, dialect, where=where, kinds=kinds or {},
            apart=(*drop, *(where or ())[:1]), usual=ANY if keeps_all else "", keeps_all=not named,
        )  # fmt: skip
        reading = next((read_first(chunk, stream.choices)[0] for chunk in stream.chunks() if len(chunk)), None)
        if reading is None:
            raise stream.empty()
        are_numbers = all(column.kind in (NUMBER, "") for column in reading.columns) and draft.baseline_by is None
        if are_numbers and not (named and draft.measure in measures_of("records")):
            _fit_numbers(draft, stream, outliers, sample, reading.for_numbers(True, str(draft.measure)))
        elif sample is None:
            _fit_whole(draft, stream, outliers, reading)
        else:
            raise ValueError("sample is for tables of numbers; leave it out")
    return classifier


def _fit_numbers(draft: Any, stream: Source, outliers: Any, sample: int | None, reading: Reading) -> None:
    """Fit to rows of numbers, in several passes."""
    stream.reading, stream.count, known = reading, n_threads(draft.n_jobs), None
    if outliers is not None and stream.choices.where is not None:
        choices = replace(stream.choices, where=(stream.choices.where[0], outliers))
        others = replace(stream, choices=choices, n_rows=None)
        known = others.fold(lambda part: part.values, lambda *two: np.concatenate(two))
    draft._fit_passes(stream, sample, known)
    draft._take_reading(reading)
    draft._having_seen(stream.ends)
    draft.n_rows_seen_ = stream.n_rows


def _fit_whole(draft: Any, stream: Source, outliers: Any, reading: Reading) -> None:
    """Fit to a table that holds other columns than numbers, which is read into memory at once."""
    groups = draft._kinds_of_groups([*reading.names, *reading.left_out])
    choices, y = replace(stream.choices, kinds={**groups, **stream.choices.kinds}), None
    column, normal = choices.where or ("", None)
    if outliers is not None:
        both = [one for some in (normal, outliers) for one in (some if isinstance(some, list) else [some])]
        choices = replace(choices, where=(column, both))
    chunks = [some for chunk in stream.chunks() if len(some := choices.chosen(chunk))]
    if not chunks:
        raise replace(stream, choices=choices).empty()
    learnt = learn(chunks, chunks[0].where, None, choices)
    chunk = learnt.chunk
    if outliers is not None:
        y = np.where(rows_with(chunk.columns[chunk.named(column)].cells(), normal), 1, -1)[learnt.good]
    say_remarks(learnt.known.remarks)
    say_left_out(list(learnt.faults.values()))
    draft.fit(learnt.X, y)
    draft._name_rows(np.asarray(chunk.rows)[learnt.good])
    draft.n_rows_seen_ = len(learnt.X)
