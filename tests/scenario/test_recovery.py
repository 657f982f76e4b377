"""kill -9 while something is under way: what was done stays, what was open is repeated and marked."""
import contextlib
import fcntl
import os
import signal
import subprocess

from baton import Gone, killed, new_id, processes_with, wait_until_none_with

# The step writes, tells us that it has, and then waits for a word of ours.
STEPS = """
name: steps
steps:
  - name: before
    tool: shell
    inputs: {command: "echo before >> log.txt"}
  - name: during
    tool: shell
    depends_on: [before]
    inputs: {command: "echo during >> log.txt; echo up > told; read -r word < gate; echo $word >> log.txt"}
  - name: after
    tool: shell
    depends_on: [during]
    inputs: {command: "cat log.txt"}
outputs:
  log: {from: "${steps.after.outputs.stdout}"}
"""


def start_steps(home, server):
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define(STEPS)
    assert server.start("steps", run_id=run).status == 202
    assert told.await_line() == "up"
    return run, told, gate


def test_an_interrupted_step_is_restored_and_repeated(home):
    server = home.serve()
    run, told, gate = start_steps(home, server)
    assert home.workspace(run, "log.txt").read_text() == "before\nduring\n"
    assert server.kill() == -signal.SIGKILL

    server = home.serve()
    assert told.await_line() == "up"
    gate.send("second\n")
    result = server.finish(run)
    assert result["status"] == "success"
    assert result["outputs"] == {"log": "before\nduring\nsecond\n"}
    restarted = [e["data"] for e in server.events(run) if e["type"] == "tool.restarted"]
    assert [(data["step"], data["attempt"]) for data in restarted] == [("during", 2)]
    assert "recovered 1 open run" in server.errors()


def test_each_crash_counts_an_attempt(home):
    server = home.serve()
    run, told, gate = start_steps(home, server)
    for _ in range(3):
        server.kill()
        server = home.serve()
        assert told.await_line() == "up"
    gate.send("last\n")
    assert server.finish(run)["outputs"] == {"log": "before\nduring\nlast\n"}
    events = server.events(run)
    attempts = [e["data"]["attempt"] for e in events if e["type"] == "tool.restarted"]
    assert attempts == [2, 3, 4]
    effects = {e["data"]["effect"] for e in events if e["data"].get("step") == "during"}
    assert len(effects) == 1


def test_a_step_that_was_committed_is_not_repeated(home):
    server = home.serve()
    run, told, gate = start_steps(home, server)
    server.kill()
    server = home.serve()
    told.await_line()
    gate.send()
    server.finish(run)
    steps = [e["data"]["step"] for e in server.events(run) if e["type"] == "tool.requested"]
    assert steps == ["before", "during", "after"]


def test_files_made_changed_and_deleted_by_the_interrupted_step_are_put_back(home):
    home.define("""
name: spoil
steps:
  - name: make
    tool: shell
    inputs:
      command: |
        mkdir -p keep/empty gone
        echo old > keep/file; echo x > gone/file; ln -s keep/file link
        echo run > tool.sh; chmod +x tool.sh
  - name: spoil
    tool: shell
    depends_on: [make]
    inputs:
      command: |
        test ! -e made -a -d keep/empty -a -x tool.sh -a -e gone/file && test "$(cat link)" = old ||
          { echo spoilt > told; exit 1; }
        set -e
        echo new > keep/file; rm -rf gone link; rmdir keep/empty; chmod -x tool.sh
        mkdir -p made/deep; echo y > made/deep/file
        echo up > told; read -r word < gate
""")
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    server = home.serve()
    server.start("spoil", run_id=run)
    told.await_line()
    server.kill()
    server = home.serve()
    assert told.await_line() == "up"  # the second attempt found everything as the first did
    gate.send()
    assert server.finish(run)["status"] == "success"
    assert [e["data"]["step"] for e in server.events(run) if e["type"] == "tool.restarted"] == ["spoil"]


def test_no_process_of_a_step_survives(home):
    marker = f"left-{new_id()}"
    home.define(f"""
name: stubborn
steps:
  - name: fork
    tool: shell
    inputs:
      command: |
        trap '' TERM INT HUP
        (setsid sh -c 'trap "" TERM INT HUP; : {marker}; while :; do sleep 1000; done' >/dev/null 2>&1 &)
        setsid sh -c ': {marker}; sleep 1000; :' &
        echo up > told
        while :; do sleep 1000; done
""")
    run = new_id()
    told = home.fifo(run, "told")
    server = home.serve()
    server.start("stubborn", run_id=run)
    told.await_line()
    assert len(processes_with(marker)) >= 3
    server.kill()
    wait_until_none_with(marker)
    wait_until_none_with(home.data)


def test_a_child_whose_parent_died_while_it_was_being_started_does_not_survive(home):
    """The lifeline ended before the child began: it must notice all the same."""
    marker = f"late-{new_id()}"
    home.define(f"""
name: late
steps:
  - name: sleep
    tool: shell
    inputs: {{command: ": {marker}; sleep 1000; :"}}
""")
    server = home.serve(BATON_POINTS="tool.after_spawn=kill")
    with contextlib.suppress(Gone):
        server.start("late")
    for _ in range(5):
        assert killed(server)
        wait_until_none_with(marker)
        wait_until_none_with(home.data)
        server = home.begin_serve(BATON_POINTS="tool.after_spawn=kill")


def open_lock(path):
    """The lock is a FIFO, which a reader opens without waiting for a writer."""
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)


def is_locked(path):
    file = open_lock(path)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def test_the_lock_of_an_effect_is_held_by_its_child_and_by_nobody_after(home):
    server = home.serve()
    run, told, gate = start_steps(home, server)
    effect = [e for e in server.events(run) if e["type"] == "tool.requested"][-1]["data"]["effect"]
    lock = os.path.join(home.data, "locks", effect)
    assert os.listdir(os.path.join(home.data, "locks")) == [effect]
    assert is_locked(lock)
    server.kill()
    wait_until_none_with(home.data)
    assert not is_locked(lock)

    server = home.serve()
    told.await_line()
    assert is_locked(lock)
    gate.send()
    server.finish(run)
    assert os.listdir(os.path.join(home.data, "locks")) == []


def test_recovery_waits_for_the_lock_of_a_child_that_still_lives(home):
    """The flock is the proof: as long as anybody holds it, nothing is restored or repeated."""
    server = home.serve()
    run, told, gate = start_steps(home, server)
    effect = [e for e in server.events(run) if e["type"] == "tool.requested"][-1]["data"]["effect"]
    server.kill()
    wait_until_none_with(home.data)
    with os.fdopen(open_lock(os.path.join(home.data, "locks", effect)), "rb") as survivor:
        fcntl.flock(survivor, fcntl.LOCK_EX)
        home.workspace(run, "log.txt").write_text("the survivor writes\n")
        server = home.serve(BATON_POINTS="tool.leftover_ms=limit@600000")
        # A second run is served from beginning to end meanwhile; the first one stays where it was.
        assert server.start("two-steps", wait=True).body["status"] == "success"
        assert "tool.restarted" not in server.types(run)
        assert home.workspace(run, "log.txt").read_text() == "the survivor writes\n"
    told.await_line()
    gate.send("alone\n")
    assert server.finish(run)["outputs"] == {"log": "before\nduring\nalone\n"}


def test_a_process_that_was_left_behind_and_does_not_end_is_killed(home):
    """Such as one that was stopped: nobody else would ever release the lock."""
    server = home.serve()
    run, told, gate = start_steps(home, server)
    effect = [e for e in server.events(run) if e["type"] == "tool.requested"][-1]["data"]["effect"]
    server.kill()
    wait_until_none_with(home.data)
    lock = open_lock(os.path.join(home.data, "locks", effect))
    fcntl.flock(lock, fcntl.LOCK_EX)
    survivor = subprocess.Popen(["sleep", "1000"], pass_fds=[lock])
    survivor.send_signal(signal.SIGSTOP)
    os.close(lock)
    server = home.serve(BATON_POINTS="tool.leftover_ms=limit@1")
    told.await_line()
    assert survivor.wait() == -signal.SIGKILL
    assert f"killed 1 processes that an earlier server left behind (effect={effect})" in server.errors()
    gate.send("alone\n")
    assert server.finish(run)["outputs"] == {"log": "before\nduring\nalone\n"}


def test_a_killed_git_does_not_stop_the_next_one(home):
    server = home.serve()
    run, told, gate = start_steps(home, server)
    server.kill()
    wait_until_none_with(home.data)
    for name in ("index.lock", "HEAD.lock"):
        with open(os.path.join(home.data, "trees", run + ".git", name), "w"):
            pass
    server = home.serve()
    told.await_line()
    gate.send("on\n")
    assert server.finish(run)["outputs"] == {"log": "before\nduring\non\n"}
    assert "none" not in [e["data"].get("tree") for e in server.events(run)]


def test_several_runs_are_taken_up_again(home):
    server = home.serve()
    runs = [start_steps(home, server) for _ in range(4)]
    server.kill()
    server = home.serve()
    for run, told, gate in runs:
        told.await_line()
        gate.send(run + "\n")
    for run, _, _ in runs:
        assert server.finish(run)["outputs"] == {"log": f"before\nduring\n{run}\n"}
    assert "recovered 4 open runs" in server.errors()


def test_a_polite_stop_without_patience_is_like_a_crash(home):
    server = home.serve(BATON_SERVE_DRAIN_SECONDS="0")
    run, told, gate = start_steps(home, server)
    server.popen.send_signal(signal.SIGTERM)
    assert server.wait() == 0
    wait_until_none_with(home.data)
    server = home.serve()
    told.await_line()
    gate.send("again\n")
    assert server.finish(run)["outputs"] == {"log": "before\nduring\nagain\n"}
