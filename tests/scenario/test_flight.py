"""The watchdog and the flight recorder: a held loop is named, and a dying process says what it did."""
import concurrent.futures
import pathlib
import re
import signal
import time

from baton import wait_until


def records(home):
    """What was written down, by the file's name.  Where processors are scarce the loop may be held elsewhere
    besides, and then that has a record of its own."""
    return {path.name: path.read_text() for path in pathlib.Path(home.data).glob("flight-*.txt")}


def test_a_held_loop_is_named_while_it_is_held(home):
    """The loop is held where it hears of the first commit, until the test lets it go."""
    hold = home.fifo("hold", "loop")
    server = home.serve(BATON_POINTS="runtime.committed=hold", BATON_POINTS_GATE=str(hold.path))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        started = pool.submit(server.start, "two-steps", wait=True)
        # Written by another thread: the loop itself is not there to do it.
        wait_until(lambda: "by commit 0, see flight-" in server.errors())
        time.sleep(0.02)  # held a little longer than was told
        hold.send("x")
        assert started.result().body["status"] == "success"
    # How long it was in the end is told as soon as it is known.
    wait_until(lambda: "ms in total by commit 0" in server.errors())
    lines = [line for line in server.errors().splitlines() if "the loop was held for " in line]
    so_far, in_total = (int(re.search(f"held for ([0-9]+) ms {when} by commit 0", "\n".join(lines))[1])
                        for when in ("so far", "in total"))
    assert so_far < in_total
    told = [line for line in lines if "in total" not in line]
    figures = server.figures()
    stalls = figures["baton_loop_stalls_total"]
    slow = figures["baton_loop_turn_seconds_count"] - figures['baton_loop_turn_seconds_bucket{le="0.1"}']
    # What we did is named once; every slow turn is a stall, and nothing is told that was none.
    [ours] = [line for line in told if "by commit 0, see " in line]
    assert 1 <= slow <= stalls and len(told) <= stalls
    text = records(home)[ours.split("see ")[1]]
    assert text.startswith("baton flight recorder: the loop was held for ")
    newest = text.splitlines()[3].split()
    assert newest[1:] == ["under", "way", "commit", "0"]
    # What came before: the request that started the run, with its id.
    assert any(line.split()[2] == "request" for line in text.splitlines()[4:])


def test_an_abort_leaves_its_last_phases(home):
    server = home.begin_serve(BATON_POINTS="runtime.committed=abort")
    assert server.listen()
    try:
        server.start("two-steps")
    except Exception:
        pass  # the answer does not come any more
    assert server.wait() == -signal.SIGABRT
    [lines] = [lines for lines in map(str.splitlines, records(home).values())
               if lines[0] == "baton flight recorder: the process aborted"]
    assert lines[3].split()[1:] == ["under", "way", "commit", "0"]
    # The next start is like any other.
    server = home.serve()
    assert server.finish(server.get("/api/runs").body[0]["run_id"])["status"] == "success"
