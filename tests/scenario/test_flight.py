"""The watchdog and the flight recorder: a held loop is named, and a dying process says what it did."""
import concurrent.futures
import pathlib
import signal

from baton import wait_until


def recorded(home):
    return sorted(pathlib.Path(home.data).glob("flight-*.txt"))


def test_a_held_loop_is_named_while_it_is_held(home):
    """The loop is held where it hears of the first commit, until the test lets it go."""
    hold = home.fifo("hold", "loop")
    server = home.serve(BATON_POINTS="runtime.committed=hold", BATON_POINTS_GATE=str(hold.path))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        started = pool.submit(server.start, "two-steps", wait=20)
        # Written by another thread: the loop itself is not there to do it.
        wait_until(lambda: "see flight-" in server.errors())
        hold.send("x")
        assert started.result().body["status"] == "success"
    assert server.figures()["baton_loop_stalls_total"] == 1
    turns = {name: count for name, count in server.figures().items() if name.startswith("baton_loop_turn")}
    slow = turns["baton_loop_turn_seconds_count"] - turns['baton_loop_turn_seconds_bucket{le="0.1"}']
    assert slow == 1
    [file] = recorded(home)
    text = file.read_text()
    assert text.startswith("baton flight recorder: the loop was held for ")
    newest = text.splitlines()[3].split()
    assert newest[1:] == ["under", "way", "commit", "0"]
    # What came before: the request that started the run, with its id.
    assert any(line.split()[2] == "request" for line in text.splitlines()[4:])
    assert f"by commit 0, see {file.name}" in server.errors()


def test_an_abort_leaves_its_last_phases(home):
    server = home.begin_serve(BATON_POINTS="runtime.committed=abort")
    assert server.listen()
    try:
        server.start("two-steps")
    except Exception:
        pass  # the answer does not come any more
    assert server.wait() == -signal.SIGABRT
    [file] = recorded(home)
    lines = file.read_text().splitlines()
    assert lines[0] == "baton flight recorder: the process aborted"
    assert lines[3].split()[1:] == ["under", "way", "commit", "0"]
    # The next start is like any other.
    server = home.serve()
    assert server.finish(server.get("/api/runs").body[0]["run_id"])["status"] == "success"
