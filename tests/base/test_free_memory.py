"""The free memory: that of the machine, or of the tightest control group."""

import math

import pytest

from eocc.scale.memory import free_memory, memory_limit


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A system whose files hold what the test writes."""
    for name, path in (("MEMORY_INFORMATION", "meminfo"), ("OWN_GROUPS", "cgroup"), ("CONTROL_GROUPS", "groups")):
        monkeypatch.setattr(f"eocc.scale.memory.{name}", tmp_path / path)
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable: 1000 kB\n")
    return tmp_path


def limit(folder, names, limit, usage, droppable=0):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in zip(names, (limit, usage), strict=True):
        (folder / name).write_text(f"{text}\n")
    (folder / "memory.stat").write_text(f"anon 7\ninactive_file {droppable}\n")


def test_free_memory_is_the_machines(system):
    assert free_memory() == 1000 * 1024
    assert memory_limit(None) == pytest.approx(0.7 * 1000 * 1024)


def test_free_memory_is_that_of_the_tightest_group(system):
    (system / "cgroup").write_text("0::/box/inner\n")
    names = ("memory.max", "memory.current")
    limit(system / "groups" / "box", names, 900_000, 600_000, 50_000)
    limit(system / "groups" / "box" / "inner", names, "max", 1)
    assert free_memory() == 350_000
    limit(system / "groups", names, 100_000, 90_000)
    assert free_memory() == 10_000
    limit(system / "groups", names, 100_000, 190_000)
    assert free_memory() == 0


def test_free_memory_of_older_groups(system):
    (system / "cgroup").write_text("3:cpu:/a\n4:memory:/a\n")
    limit(system / "groups" / "memory" / "a", ("memory.limit_in_bytes", "memory.usage_in_bytes"), 500, 100)
    assert free_memory() == 400


def test_without_knowledge_of_free_memory_there_is_no_limit(system, monkeypatch):
    (system / "meminfo").unlink()
    monkeypatch.delattr("os.sysconf")
    assert free_memory() is None
    assert memory_limit(None) == math.inf
