"""Loops report how far they are; a terminal shows a bar, other places get a line now and then."""

import io
import sys
import threading
import warnings
from functools import partial

import numba
import pytest

from doubles import Recorder
from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.base.compiling import CompilingWarning, say_when_compiling
from eocc.base.progress import Watch, current_watch, format_seconds, shown, stage, track, watched_by
from eocc.base.threads import for_each_block, in_order, threads, workers
from eocc.cli import main
from eocc.entropic.search import GeneticSearch
from eocc.streaming import fit_stream, score_stream
from terminals import on_terminal

SEARCH = GeneticSearch(max_generations=3)
WORDS = [letter * length for letter in "abc" for length in range(1, 31)]


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def recorder():
    watch = Recorder()
    with watched_by(watch):
        yield watch


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown_at(file, times, total=100.0, share_at=lambda now: now / 10):
    """All that a stage prints up to each time, if its share is as given."""
    clock, found = Clock(), []
    watch = Watch(file, file.isatty(), clock=clock)
    with watch.stage("comparing 3,000 strings", total) as report:
        for clock.now in times:
            report(total * share_at(clock.now))
            found.append(file.getvalue())
    return found


def test_a_bar_appears_after_half_a_second_if_more_than_two_seconds_are_expected():
    file = Terminal()
    before, after = shown_at(file, [0.49, 0.5], share_at=lambda now: now / 2.01)
    assert before == ""
    assert "comparing 3,000 strings  [####" in after
    assert "24%  about 2 s left" in after
    assert "100%  0 s" in file.getvalue()


def test_no_time_is_left_at_100_percent():
    file = Terminal()
    (drawn,) = shown_at(file, [5.0], share_at=lambda now: 1.0)
    assert drawn.endswith("100%  almost done\x1b[K")
    assert "100%  5 s" in file.getvalue()


def test_no_bar_if_two_seconds_are_enough():
    file = Terminal()
    shown_at(file, [0.5, 1.0, 1.9], share_at=lambda now: now / 1.99)
    assert file.getvalue() == ""


def test_a_step_of_more_than_two_seconds_shows_a_bar_without_an_estimate():
    file = Terminal()
    before, after = shown_at(file, [2.0, 2.1], share_at=lambda now: 0.0)
    assert before == ""
    assert "0%  2 s so far" in after


def test_a_bar_is_drawn_ten_times_a_second():
    file = Terminal()
    drawn = shown_at(file, [0.5, 0.59, 0.61])
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_bar_never_goes_back():
    file = Terminal()
    drawn = shown_at(file, [1.0, 5.0], share_at=lambda now: 0.3 if now == 1.0 else 0.1)
    assert "30%  about 12 s left" in drawn[1]
    assert "10%" not in drawn[1]


def test_a_bar_fits_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    file, clock = Terminal(), Clock()
    with Watch(file, True, clock=clock).stage("comparing", 100) as report:
        clock.now = 5.0
        report(10, note="a note that does not fit " * 5)
    lines = file.getvalue().replace("\x1b[K", "").split("\r")
    assert max(len(line.rstrip()) for line in lines) == 69


def test_without_a_terminal_lines_come_after_5_seconds_then_after_twice_the_time():
    file = io.StringIO()
    times = [4.9, 5.0, 9.9, 10.0, 19.0, 20.0, 39.0, 40.0]
    found = shown_at(file, times, share_at=lambda now: now / 50)
    assert [text.count("\n") for text in found] == [0, 1, 1, 2, 2, 3, 3, 4]
    assert found[1] == "comparing 3,000 strings: 10%, about 45 s left\n"
    assert file.getvalue().endswith("comparing 3,000 strings: 80%, about 10 s left\n")


def test_the_time_of_work_of_unknown_length_is_shown():
    file, clock = io.StringIO(), Clock()
    with Watch(file, clock=clock).stage("comparing 3,000 strings", float("inf")) as report:
        clock.now = 7.0
        report(12)
    assert file.getvalue() == "comparing 3,000 strings: 7 s so far\n"


def test_a_line_does_not_break_the_bar():
    file, clock = Terminal(), Clock()
    watch = Watch(file, True, clock=clock)
    with watch.stage("comparing", 100) as report:
        clock.now = 5.0
        report(10)
        watch.line("a line")
        assert file.getvalue().endswith("\na line\n")
        clock.now = 6.0
        report(20)
    assert "20%" in file.getvalue().split("a line")[1]


def test_a_hidden_watch_shows_nothing():
    file, clock = io.StringIO(), Clock()
    watch = Watch(file, clock=clock)
    with watch.stage("comparing", 100) as report:
        clock.now = 50.0
        with watch.hidden():
            report(10)
        assert file.getvalue() == ""
        report(10)
    assert file.getvalue() == "comparing: 10%, about 8 min left\n"


def test_times_have_a_unit_that_suits_them():
    assert [format_seconds(seconds) for seconds in (0.4, 89, 90, 5399, 5400)] == [
        "0 s",
        "89 s",
        "2 min",
        "90 min",
        "1.5 h",
    ]


def test_inner_stages_are_parts_of_the_step_in_progress(recorder):
    with stage("files", 4) as report:
        report(1, in_progress=2)
        with stage("rows", 10) as report_rows:
            report_rows(5)
        report(3)
    assert recorder.seen == [("files", 0.25), ("files", 0.5), ("files", 0.75)]


def test_an_abandoned_loop_does_not_end_the_next_one(recorder):
    abandoned = track("first", [1, 2, 3])
    next(abandoned)
    with stage("second", 2) as report:
        abandoned.close()
        report(1)
    assert recorder.seen == [("second", 0.5)]


def test_a_report_after_the_end_is_ignored(recorder):
    with stage("early", 2) as report:
        pass
    report(1)
    assert recorder.seen == []


def test_nobody_listens_by_default(setosa, capsys):
    assert current_watch() is None
    EntropicOneClassClassifier(search=SEARCH, random_state=0).fit(setosa)
    SurpriseClassifier().fit(WORDS).predict(WORDS)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("count", [1, 3])
def test_loops_over_blocks_and_items_report(recorder, count):
    with threads(count):
        for_each_block(100, 30, lambda start, stop: None, "blocks")
    assert list(in_order(str, iter([1, 2]), count, "items")) == ["1", "2"]
    assert list(in_order(str, (n for n in [1, 2]), count, "unknown")) == ["1", "2"]
    assert list(track("tracked", [5, 6])) == [5, 6]
    assert {name for name, _ in recorder.seen} == {"blocks", "items", "tracked"}
    assert ("blocks", 1.0) in recorder.seen
    assert [share for name, share in recorder.seen if name == "items"] == [0.5, 1.0]
    assert [share for name, share in recorder.seen if name == "tracked"] == [0.5, 1.0]


def test_a_pool_reports_its_tasks_and_a_single_task_what_is_in_it(recorder):
    def inner(task, workspace):
        list(track("inside", [1, 2]))

    with workers(list, 2) as pool:
        pool.map(inner, range(5))
        assert recorder.seen[-1] == ("evaluating candidates", 1.0)
        recorder.seen.clear()
        pool.map(inner, [0])
    assert recorder.seen == [("inside", 0.5), ("inside", 1.0)]


def test_other_threads_do_not_report(recorder):
    def work(start, stop):
        assert current_watch() is None

    for_each_block(3, 1, work)
    thread = threading.Thread(target=work, args=(0, 1))
    thread.start()
    thread.join()


def test_names_say_what_is_done(recorder, tmp_path):
    def names():
        found = list(dict.fromkeys(name for name, _ in recorder.seen))
        recorder.seen.clear()
        return found

    SurpriseClassifier().fit(WORDS)
    assert "comparing 90 strings" in names()
    series = [[float(k % 7) for k in range(n)] for n in range(5, 15)]
    SurpriseClassifier(measure="dtw").fit([[[value] for value in one] for one in series])
    assert "comparing 10 series" in names()
    EntropicOneClassClassifier(search=SEARCH, random_state=0).fit([[float(n), n % 3] for n in range(20)])
    assert "at most 3 generations" in names()
    table = tmp_path / "rows.csv"
    table.write_text("a,b\n" + "".join(f"{n % 17},{n % 7}\n" for n in range(300)))
    clf = fit_stream(SurpriseClassifier(), table)
    assert names()[:3] == ["reading rows.csv", "counting rows", "choosing rows"]
    score_stream(clf, table, tmp_path / "out.csv")
    assert names() == ["reading rows.csv"]


def test_the_share_of_a_file_counts_what_is_done_with_its_rows(recorder, tmp_path):
    from eocc.formats.files.formats import open_files

    (tmp_path / "words.txt").write_text("four\n" * 10_000)
    for _ in open_files([tmp_path / "words.txt"]):
        list(track("scoring", range(2)))
    shares = [share for _, share in recorder.seen]
    assert shares[:2] == [0.0, 0.4096]  # the first half of the first 8192 rows is done
    assert shares == sorted(shares)


def test_verbose_gives_one_line_per_generation_without_a_terminal(iris, capsys):
    X, y = iris
    EntropicOneClassClassifier(synthesis="validation", search=SEARCH, random_state=0, verbose=True).fit(X[::3], y[::3])
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if "objective" in line]
    assert out == ""
    assert [line.split(",")[0] for line in lines] == [f"generation {n} of at most 3" for n in (1, 2, 3)]
    for word in ("objective", "entropy", "modularity", "performance", "regions"):
        assert word in lines[0]


def test_verbose_without_a_search_gives_the_scores(setosa, capsys):
    EntropicOneClassClassifier(search=None, verbose=True).fit(setosa)
    assert "generation 1, objective" in capsys.readouterr().err


@pytest.fixture
def words(tmp_path, monkeypatch):
    """A file, and commands that show a bar at once, whatever time they take."""
    monkeypatch.setattr(sys.modules["eocc.cli.app"], "shown", partial(shown, first=0.0, worth=0.0))
    (tmp_path / "words.txt").write_text("\n".join(WORDS))
    return str(tmp_path / "words.txt")


def in_terminal(*arguments, **environment):
    text, code = on_terminal(main, arguments, **environment)
    assert code == 0
    return text


def test_commands_show_bars_in_a_terminal_but_not_among_the_rows(words, tmp_path):
    model, out = str(tmp_path / "m.eocc"), str(tmp_path / "scores.csv")
    text = in_terminal("fit", words, "-o", model)
    assert "comparing 90 strings  [####" in text
    assert "Written" in text
    assert "scoring words.txt  [" in in_terminal("score", model, words, "-o", out)
    assert "scoring" not in in_terminal("score", model, words).split("membership")[1]
    assert "[##" not in in_terminal("--quiet", "score", model, words, "-o", out)
    assert "computing the report  [##" in in_terminal("report", model, "-o", str(tmp_path / "r.html"))
    assert "\x1b" not in in_terminal("score", model, words, "-o", out, TERM="dumb")


def test_commands_print_lines_without_a_terminal_and_nothing_if_quiet(words, tmp_path, capsys):
    asked = ["fit", words, "-o", str(tmp_path / "m.eocc")]
    assert main(asked) == 0
    text = capsys.readouterr().err
    assert "comparing 90 strings: " in text
    assert "\x1b" not in text
    assert main([*asked, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


@pytest.fixture
def use_kernels(tmp_path):
    """A function that uses two kernels of the package: the first call compiles them, later ones find them on disk."""
    path = tmp_path / "made.py"
    path.write_text("def one(x):\n    return x + 1\n\n\ndef two(x):\n    return x + 2\n")

    def use():
        exec(compile(path.read_text(), str(path), "exec"), made := {"__name__": "eocc.made"})
        for name in ("one", "two"):
            numba.njit(cache=True)(made[name])(1.0)

    exec("def other(x):\n    return x", made := {"__name__": "eocc.made"})
    with warnings.catch_warnings(action="ignore"):
        numba.njit(made["other"])(1.0)  # the first compilation of a process ends what the package registered
    say_when_compiling()
    return use


def test_compiling_is_said_once_and_not_when_kernels_come_from_the_cache(use_kernels):
    with pytest.warns(CompilingWarning, match="eocc warm-up") as said:
        use_kernels()
    assert len(said) == 1
    say_when_compiling()
    with warnings.catch_warnings(record=True) as said:
        use_kernels()
    assert said == []


def test_compiling_is_no_error_where_warnings_are(use_kernels):
    with warnings.catch_warnings(action="error"):
        use_kernels()


@pytest.mark.filterwarnings("always:compiling code")
def test_a_command_notes_that_it_compiles(use_kernels, words, tmp_path, monkeypatch, capsys):
    fit = SurpriseClassifier.fit
    monkeypatch.setattr(SurpriseClassifier, "fit", lambda *given: use_kernels() or fit(*given))
    assert main(["fit", words, "-o", str(tmp_path / "m.eocc")]) == 0
    assert capsys.readouterr().err.count("Note: compiling code") == 1
