"""A disk that is behind: new commands are refused, reads and results are not."""
import concurrent.futures

from baton import new_id, wait_until

GATED = """
name: gated
steps:
  - name: wait
    tool: shell
    inputs: {command: "echo up > told; read -r word < gate; echo $word"}
outputs:
  said: {from: "${steps.wait.outputs.stdout}"}
"""

WAITS = """
name: waits
steps:
  - {name: wait, wait: {seconds: 3600}}
"""


def test_new_commands_are_refused_while_a_commit_hangs_and_results_are_kept(home):
    """The third commit waits at a gate of the test's; the first two are the gated run's own."""
    hold = home.fifo("hold", "commit")
    server = home.serve(BATON_POINTS="store.before_commit=hold@3;writer.queue_ms=limit@250",
                        BATON_POINTS_GATE=str(hold.path))
    home.define(GATED)
    gated = new_id()
    told, gate = home.fifo(gated, "told"), home.fifo(gated, "gate")
    assert server.start("gated", run_id=gated).status == 202
    told.await_line()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        admitted = pool.submit(server.start, "two-steps")  # its creation is the commit that hangs
        try:
            wait_until(lambda: server.figures()["baton_writer_oldest_seconds"] > 0.25)
            assert server.rejections("WRITER_QUEUE_MS") == 0
            attempt = pool.submit(server.start, "two-steps")
            wait_until(lambda: attempt.done() or server.figures()["baton_writer_waiting"] > 1)
            assert attempt.done(), "it was admitted"
            refused = attempt.result()
            assert (refused.status, refused.body["code"]) == (503, "overloaded")
            assert refused.body["detail"].startswith("the disk is behind by more than 250 ms")
            assert int(refused.headers["Retry-After"]) >= 1
            # Reads are answered, and a step's result is taken although nothing else is.
            assert server.result(gated)["status"] == "running"
            gate.send("kept\n")
            wait_until(lambda: server.figures()["baton_tools_open"] == 0)
            figures = server.figures()
            assert figures["baton_writer_waiting"] == 2
            assert figures["baton_writer_work_seconds"] >= figures["baton_writer_oldest_seconds"] > 0.25
            assert server.rejections("WRITER_QUEUE_MS") == 1
        finally:
            hold.send("x")  # or whoever waits for it would keep us, too
        assert admitted.result().status == 202
    # What a commit is thought to cost is still that of the one that hung: whatever waits is too much, so
    # nothing may be under way any more.
    server.finish(admitted.result().body["run_id"])
    assert server.finish(gated)["outputs"] == {"said": "kept\n"}
    assert server.start("two-steps", wait=True).body["status"] == "success"
    assert len(server.get("/api/runs").body) == 3


def test_what_was_queued_before_the_disk_fell_behind_is_stored(home):
    """Ten starts wait for a commit that hangs: each of them is answered when it goes on."""
    hold = home.fifo("hold", "commit")
    server = home.serve(BATON_POINTS="store.before_commit=hold", BATON_POINTS_GATE=str(hold.path))
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        admitted = [pool.submit(server.start, "two-steps") for _ in range(10)]
        wait_until(lambda: server.figures()["baton_writer_waiting"] == 10)
        hold.send("x")
        runs = [attempt.result().body["run_id"] for attempt in admitted]
    assert [server.finish(run)["status"] for run in runs] == ["success"] * 10
    assert len(server.get("/api/runs").body) == 10


def test_a_long_queue_refuses_new_commands_too(home):
    """As many appends wait as there may, here two: a start, which hangs, and a result.  The first three
    commits are of the runs that are there before."""
    hold = home.fifo("hold", "commit")
    server = home.serve(BATON_POINTS="store.before_commit=hold@4;writer.queue=limit@2", BATON_POINTS_GATE=str(hold.path))
    for yaml in (GATED, WAITS):
        home.define(yaml)
    waits, gated = server.run_of("waits"), new_id()
    told, gate = home.fifo(gated, "told"), home.fifo(gated, "gate")
    assert server.start("gated", run_id=gated).status == 202
    told.await_line()
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        admitted = pool.submit(server.start, "two-steps")
        try:
            wait_until(lambda: server.figures()["baton_writer_waiting"] == 1)
            gate.send("kept\n")
            wait_until(lambda: server.figures()["baton_writer_waiting"] == 2)
            assert server.rejections("WRITER_QUEUE") == 0
            attempt = pool.submit(server.start, "two-steps")
            wait_until(lambda: attempt.done() or server.figures()["baton_writer_waiting"] > 2)
            assert attempt.done(), "it was admitted"
            refused = attempt.result()
            assert (refused.status, refused.body["code"]) == (503, "overloaded")
            assert refused.body["detail"].startswith("2 appends wait for the disk")
            assert int(refused.headers["Retry-After"]) >= 1
            assert server.tell(waits, "pause").status == 503
            assert server.rejections("WRITER_QUEUE") == 2
            # Reads are answered, and a cancel is taken all the same, behind the others.
            assert server.result(waits)["status"] == "running"
            cancel = pool.submit(server.tell, waits, "cancel")
            wait_until(lambda: server.figures()["baton_writer_waiting"] == 3)
            assert server.rejections("WRITER_QUEUE") == 2
        finally:
            hold.send("x")  # or whoever waits for it would keep us, too
        assert (admitted.result().status, cancel.result().status) == (202, 200)
    assert server.finish(gated)["outputs"] == {"said": "kept\n"}
    assert server.finish(waits)["metadata"]["state"] == "cancelled"
    assert server.start("two-steps", wait=True).body["status"] == "success"
    assert server.rejections("WRITER_QUEUE") == 2


def test_many_results_of_one_run_are_taken_off_the_queue_in_its_order(home):
    """Waits that are due at once, while a commit hangs: the result of each is an append of its own."""
    hold = home.fifo("hold", "commit")
    server = home.serve(BATON_POINTS="store.before_commit=hold@2", BATON_POINTS_GATE=str(hold.path))
    home.define("name: crowd\ninputs: {items: {type: array}}\nsteps:\n  - name: each\n    map:\n"
                "      over: \"${inputs.items}\"\n      at_once: 2000\n      steps: [{name: wait, wait: {seconds: 0.001}}]\n")
    run = server.run_of("crowd", {"items": list(range(2000))})
    wait_until(lambda: server.figures()["baton_writer_waiting"] == 2000)
    hold.send("x")
    assert server.finish(run)["status"] == "success"
    assert server.types(run).count("timer.finished") == 2000
