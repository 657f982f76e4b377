"""Options of the crash rig, and its table at the end."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

pytest.register_assert_rewrite("baton", "rig")

import rig  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--all-points", action="store_true",
                     help="kill at every passing of every point, not only at the first and last")
    parser.addoption("--write-table", action="store_true", help="write docs/crash-table.md")


def pytest_generate_tests(metafunc):
    """A test that asks for `plug` is made once for each passing of a point of its plan."""
    if "plug" not in metafunc.fixturenames:
        return
    plan = metafunc.function.plan
    plugs = rig.plan(plan, metafunc.config.getoption("all_points"))
    rig.PLANNED[plan] = plugs
    metafunc.parametrize("plug", plugs, ids=[f"{name}@{passing}" for name, passing in plugs])


def pytest_runtest_logreport(report):
    """A kill counts as good only when its whole test was."""
    if report.failed and "[" in report.nodeid:
        rig.FAILED.add(report.nodeid)


def pytest_sessionfinish():
    rig.forget_first_killed()


def pytest_terminal_summary(terminalreporter, config):
    if not config.getoption("all_points") or not rig.KILLED:
        return
    lines = rig.table()
    terminalreporter.write_line("")
    for line in lines:
        terminalreporter.write_line(line)
    if config.getoption("write_table"):
        head = ["# Crash table", "",
                "Written by `make crash` with `--write-table`: the real program is killed at each passing of",
                "each point, started again, and its end compared with that of an undisturbed run.", ""]
        path = rig.ROOT / "docs" / "crash-table.md"
        path.write_text("\n".join(head + lines) + "\n")
