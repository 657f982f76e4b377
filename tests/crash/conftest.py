"""Options of the crash rig, and the crash table that it prints at the end."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

pytest.register_assert_rewrite("baton", "rig", "w20", "agents")

import rig  # noqa: E402
import syscalls  # noqa: E402
from report import pytest_runtest_makereport  # noqa: E402,F401


def pytest_addoption(parser):
    parser.addoption("--all-points", action="store_true",
                     help="kill at every passing of every point and at every system call")
    parser.addoption("--kill", action="append", default=[], metavar="before@17",
                     help="kill only at this system call; before@17+after@4 kills a second time")
    parser.addoption("--write-table", action="store_true", help="write docs/crash-table.md")


def pytest_generate_tests(metafunc):
    """A test with the argument `plug` runs once for each passing of each failpoint of its plan."""
    if "which" in metafunc.fixturenames:
        option = metafunc.config.getoption
        metafunc.parametrize("which", ["asked"] if option("kill") else
                             ["before", "after"] if option("all_points") else ["chosen"])
    if "plug" not in metafunc.fixturenames or metafunc.config.getoption("kill"):
        return
    plan = metafunc.function.plan
    plugs = rig.plan(plan, metafunc.config.getoption("all_points"))
    rig.PLANNED[plan] = plugs
    metafunc.parametrize("plug", plugs, ids=[f"{name}@{passing}" for name, passing in plugs])


def pytest_collection_modifyitems(config, items):
    """With --kill, only that kill is tested."""
    if config.getoption("kill"):
        others = [item for item in items if "[asked]" not in item.name]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in others]


def pytest_runtest_logreport(report):
    """A kill counts as green only when its whole test passed."""
    if report.failed and "[" in report.nodeid:
        rig.FAILED.add(report.nodeid)


def pytest_sessionfinish():
    rig.forget_first_killed()


TABLE_HEAD = """# Crash table

Written by `make crash` with `--write-table`: the real program is killed with SIGKILL, started again, and its
end compared with that of an undisturbed run: result, outputs, files, events, what its client was told
before, between and after the kills, no process left, `baton db check`.

"""
SYSCALLS_HEAD = """
## At its system calls

Every call of any thread of the program that changes something outside it, found by a tracer; killed before
the call has any effect, and when it has had it and the program does not know. The plan `twice` is killed a
second time in the start that follows; the calls of both kills are counted. `w20` is the reference
workflow of 20 steps (`tests/crash/w20.yaml`): agents, questions, artifacts, a workflow within, and a world whose ledger says what
happened; `agents` is a run of agents with tools (`tests/crash/agents.yaml`); the others are a shorter run. `checkpoint` is a run long enough
for SQLite's log to be written back into the database.

"""


def pytest_terminal_summary(terminalreporter, config):
    terminalreporter.write_line(f"BATON_CRASH_SEED={syscalls.seed()} chooses these kills again")
    if not config.getoption("all_points"):
        return
    points, calls = rig.table(), syscalls.table()
    for line in points + calls:
        terminalreporter.write_line(line)
    if config.getoption("write_table"):
        path = rig.ROOT / "docs" / "crash-table.md"
        path.write_text(TABLE_HEAD + "## At its points\n\n" + "\n".join(points) + "\n" + SYSCALLS_HEAD +
                        "\n".join(calls) + "\n")
