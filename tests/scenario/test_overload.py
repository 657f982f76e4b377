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

# Waits that are due at once and do not count as steps at work: the result of each is an append of its own.
ROWS, COLUMNS = 7, 9400
CROWD = f"""
name: crowd
inputs: {{items: {{type: array}}}}
steps:
  - name: rows
    map:
      over: {list(range(ROWS))}
      steps:
        - name: columns
          map:
            over: "${{inputs.items}}"
            steps:
              - {{name: wait, wait: {{seconds: 0.001}}}}
"""
QUEUE_LIMIT = 65536


def test_new_commands_are_refused_while_a_commit_hangs_and_results_are_kept(home):
    """The second commit waits at a gate of the test's; the first is the gated run's own."""
    hold = home.fifo("hold", "commit")
    server = home.serve(BATON_POINTS="store.before_commit=hold@2", BATON_POINTS_GATE=str(hold.path))
    home.define(GATED)
    gated = new_id()
    told, gate = home.fifo(gated, "told"), home.fifo(gated, "gate")
    assert server.start("gated", run_id=gated).status == 202
    told.await_line()
    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        # Its creation is the commit that hangs; those after it queue up until there is too much.
        admitted, refused = [pool.submit(server.start, "two-steps")], None
        while refused is None:
            attempt = pool.submit(server.start, "two-steps")
            wait_until(lambda: attempt.done() or server.figures()["baton_writer_waiting"] > len(admitted))
            if attempt.done():
                refused = attempt.result()
            else:
                admitted.append(attempt)
        assert (refused.status, refused.body["code"]) == (503, "overloaded")
        assert int(refused.headers["Retry-After"]) >= 1
        # Reads are answered, and a step's result is taken although nothing else is.
        assert server.result(gated)["status"] == "running"
        gate.send("kept\n")
        wait_until(lambda: server.figures()["baton_tools_open"] == 0)
        figures = server.figures()
        assert figures["baton_writer_waiting"] == len(admitted) + 1
        assert figures["baton_writer_work_seconds"] >= figures["baton_writer_oldest_seconds"] > 0.25
        assert server.rejections("WRITER_QUEUE_MS") == 1
        hold.send("x")
        for attempt in admitted:
            assert attempt.result().status == 202
    assert server.finish(gated)["outputs"] == {"said": "kept\n"}
    assert server.start("two-steps", wait=20).body["status"] == "success"
    assert len(server.get("/api/runs").body) == len(admitted) + 2


def test_results_may_fill_the_queue_and_then_its_length_refuses_new_commands(home):
    """While a commit hangs, more timers fire than the queue may hold: nobody can refuse a result.  The first three
    commits make the runs; what the fourth carries are the first results."""
    hold = home.fifo("hold", "commit")
    server = home.serve(BATON_POINTS="store.before_commit=hold@4", BATON_POINTS_GATE=str(hold.path))
    for yaml in (GATED, WAITS, CROWD):
        home.define(yaml)
    gated = new_id()
    told, gate = home.fifo(gated, "told"), home.fifo(gated, "gate")
    assert server.start("gated", run_id=gated).status == 202
    told.await_line()
    waits = server.run_of("waits")
    crowd = server.run_of("crowd", {"items": list(range(COLUMNS))})
    results = ROWS * COLUMNS
    wait_until(lambda: server.figures()["baton_writer_waiting"] == results)
    assert server.rejections("WRITER_QUEUE") == 0
    refused = server.start("two-steps")
    assert (refused.status, refused.body["code"]) == (503, "overloaded")
    assert str(QUEUE_LIMIT) in refused.body["detail"]
    assert int(refused.headers["Retry-After"]) >= 1
    assert server.tell(waits, "pause").status == 503
    assert server.rejections("WRITER_QUEUE") == 2
    # A further result and a cancel are taken all the same, behind the others.
    gate.send("kept\n")
    wait_until(lambda: server.figures()["baton_writer_waiting"] == results + 1)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        cancel = pool.submit(server.tell, waits, "cancel")
        wait_until(lambda: server.figures()["baton_writer_waiting"] == results + 2)
        assert server.rejections("WRITER_QUEUE") == 2
        hold.send("x")
        assert cancel.result().status == 200
    assert server.finish(gated)["outputs"] == {"said": "kept\n"}
    assert server.finish(waits)["error"]
    wait_until(lambda: server.figures()["baton_writer_waiting"] == 0)
    assert server.result(crowd)["status"] == "success"
    assert server.start("two-steps", wait=20).body["status"] == "success"
    assert server.rejections("WRITER_QUEUE") == 2
