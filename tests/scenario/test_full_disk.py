"""Tools that meet a full disk: they wait, can be cancelled, and continue when there is room.

The folders that tools write to are small tmpfs, visible only to the program; the database has room."""
import contextlib
import os
import pathlib

import pytest
from baton import descendants, wait_until

SIZE = 1 << 20
FOLDERS = ("work", "journal", "artifacts")
STEPS = {
    "write_file": "{path: deep/file, content: kept}",
    "append_line": "{path: lines, line: kept}",
    "write_artifact": "{name: thing, content: kept}",
}
WAITS = "step step waits until there is room on the disk"


@contextlib.contextmanager
def small_disk(home):
    """A server, and a function that fills its folders or makes room."""
    under = ["/usr/bin/bwrap", "--dev-bind", "/", "/", "--die-with-parent"]
    for name in FOLDERS:
        os.makedirs(os.path.join(home.data, name), exist_ok=True)
        under += ["--size", str(SIZE), "--tmpfs", os.path.join(home.data, name)]
    server = home.serve(under=(*under, "--"))
    root = pathlib.Path(f"/proc/{descendants(server.pid)[-1]}/root{home.data}")

    def fill(full):
        for name in FOLDERS:
            ballast = root / name / "ballast"
            if not full:
                ballast.unlink()
                continue
            with contextlib.suppress(OSError), open(ballast, "wb", buffering=0) as file:
                while True:
                    file.write(b"b" * 4096)
    yield server, fill, root
    server.kill()


def define(home, tool):
    home.define(f"name: one\nsteps: [{{name: step, tool: {tool}, inputs: {STEPS[tool]}}}]\n")


@pytest.mark.parametrize("tool", STEPS)
def test_a_tool_waits_for_room_and_continues(home, tool):
    define(home, tool)
    with small_disk(home) as (server, fill, root):
        fill(True)
        run = server.run_of("one")
        wait_until(lambda: WAITS in server.errors())
        assert server.get(f"/api/runs/{run}").body["status"] == "running"
        fill(False)
        assert server.finish(run)["status"] == "success"
        # One request, one result: waiting is not an attempt.
        assert [kind for kind in server.types(run) if kind.startswith("tool.")] == ["tool.requested", "tool.finished"]
        assert server.errors().count(WAITS) == 1
        if tool == "append_line":
            assert len((root / "journal/lines").read_text().splitlines()) == 1


@pytest.mark.parametrize("tool", STEPS)
def test_a_tool_that_waits_for_room_can_be_cancelled(home, tool):
    define(home, tool)
    with small_disk(home) as (server, fill, _):
        fill(True)
        run = server.run_of("one")
        wait_until(lambda: WAITS in server.errors())
        assert server.tell(run, "cancel").status == 200
        assert server.follow(run)[-1]["data"]["outcome"] == "cancelled"


def test_a_server_that_dies_while_a_tool_waits_continues_it(home):
    define(home, "append_line")
    with small_disk(home) as (server, fill, _):
        fill(True)
        run = server.run_of("one")
        wait_until(lambda: WAITS in server.errors())
    server = home.serve()  # the disk behind the folders has room
    assert server.finish(run)["status"] == "success"
    assert len(pathlib.Path(home.data, "journal/lines").read_text().splitlines()) == 1
