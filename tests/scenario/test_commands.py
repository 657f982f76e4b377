"""What people tell a run, over HTTP and from the command line: pause, resume, cancel, signals.  What was acknowledged
is kept over kill -9 and takes effect after it."""
import concurrent.futures
import http.client
import json
import os
import select
import threading

import pytest
from baton import EXIT, PATIENCE_S, new_id, processes_with, wait_until, wait_until_none_with

GATED = """
name: gated
steps:
  - {name: work, tool: shell, inputs: {command: "echo up > told; read -r w < gate; echo $w"}}
  - {name: after, tool: echo, depends_on: [work], inputs: {said: "${steps.work.outputs.stdout}"}}
outputs:
  said: {from: "${steps.after.outputs.said}"}
"""
ASKS = """
name: asks
steps:
  - {name: ask, human: {question: "Go on?"}}
  - {name: after, tool: echo, depends_on: [ask], inputs: {x: done}}
outputs: {x: {from: "${steps.after.outputs.x}"}}
"""
WAITS = """
name: waits
steps:
  - {name: hold, wait: {signal: deployed}}
  - {name: after, tool: echo, depends_on: [hold], inputs: {x: "${steps.hold.outputs.version}"}}
outputs: {x: {from: "${steps.after.outputs.x}"}}
"""
FULL = 1 << 24  # STORE_RESERVE_BYTES
SLICE = 1 << 20


def state(server, run):
    return server.result(run)["metadata"]["state"]


def gated(home, server):
    home.define(GATED)
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    assert server.start("gated", run_id=run).status == 202
    assert told.await_line() == "up"
    return run, told, gate


def asking(home, server):
    home.define(ASKS)
    run = server.run_of("asks")
    return run, server.until(run, "human.requested")["data"]["effect"]


@pytest.fixture(params=["http", "cli"])
def tell(request, home):
    """Tells a run something, one way or the other: true when it was taken."""
    def by_http(server, run, command, **body):
        answer = server.tell(run, command, **body)
        assert answer.status in (200, 409), answer
        if answer.status == 200:
            assert answer.body == {"run_id": run, "command": command}
        return answer.status == 200

    def by_cli(server, run, command, reason=None, name=None, data=None):
        words = [command, run] + ([name] if name else []) + (["-m", reason] if reason else [])
        words += ["--data", json.dumps(data)] if data is not None else []
        status, output, errors = home.cli(*words)
        assert status in (0, EXIT["conflict"]), errors
        if status == 0:
            assert json.loads(output) == {"run_id": run, "command": command}
        return status == 0

    return by_http if request.param == "http" else by_cli


# ---- pause and resume ----------------------------------------------------------------------------


def test_a_paused_run_starts_nothing_new(home, server, tell):
    run, _, gate = gated(home, server)
    assert tell(server, run, "pause", reason="lunch")
    assert server.until(run, "run.paused")["data"]["reason"] == "lunch"
    assert state(server, run) == "paused"
    assert not tell(server, run, "pause")
    gate.send("hello\n")
    server.until(run, "tool.finished")
    assert state(server, run) == "paused"
    assert server.types(run)[-1] == "tool.finished"
    assert tell(server, run, "resume")
    result = server.finish(run)
    assert (result["status"], result["outputs"]) == ("success", {"said": "hello\n"})
    assert not tell(server, run, "pause")


def test_an_answer_to_a_paused_run_is_kept(home, server, tell):
    run, request = asking(home, server)
    assert tell(server, run, "pause")
    assert server.respond(request).status == 200
    assert server.types(run)[-1] == "human.finished" and state(server, run) == "paused"
    assert tell(server, run, "resume")
    assert server.finish(run)["outputs"] == {"x": "done"}


def test_pause_and_resume_survive_a_kill(home, tell):
    server = home.serve()
    run, request = asking(home, server)
    assert tell(server, run, "pause")
    server.kill()
    server = home.serve()
    assert state(server, run) == "paused"
    assert server.respond(request).status == 200
    server.kill()
    server = home.serve()
    assert state(server, run) == "paused" and server.types(run)[-1] == "human.finished"
    assert tell(server, run, "resume")
    server.kill()
    assert home.serve().finish(run)["status"] == "success"


def test_resume_of_what_is_not_paused(home, server, tell):
    run, _ = asking(home, server)
    assert not tell(server, run, "resume")


# ---- cancel --------------------------------------------------------------------------------------


def test_a_cancelled_question_is_closed(home, server, tell):
    run, request = asking(home, server)
    assert tell(server, run, "cancel", reason="no longer needed")
    result = server.finish(run)
    assert (result["status"], result["metadata"]["state"]) == ("failed", "cancelled")
    assert server.until(run, "run.cancelling")["data"]["reason"] == "no longer needed"
    assert server.inbox() == []
    assert server.respond(request).status == 409
    assert {path: step["state"] for path, step in server.steps(run).items()} == {"ask": "cancelled", "after": "cancelled"}
    assert not tell(server, run, "cancel")
    assert server.types(run).count("run.finished") == 1


def test_cancel_ends_a_tool_and_its_grandchildren(home, server, tell):
    """One of them will not hear of SIGTERM, and another one has left the session."""
    marker = f"family-{new_id()}"
    home.define(f"""
name: family
steps:
  - name: work
    tool: shell
    inputs:
      command: "(trap '' TERM; sh -c ': {marker}; trap \\"\\" TERM; while :; do sleep 1000; done') & setsid sh -c ': {marker}; sleep 1000; :' & echo up > told; wait"
  - {{name: after, tool: echo, depends_on: [work]}}
""")
    run = new_id()
    told = home.fifo(run, "told")
    assert server.start("family", run_id=run).status == 202
    assert told.await_line() == "up"
    wait_until(lambda: len(processes_with(marker)) >= 2)
    assert tell(server, run, "cancel")
    assert server.finish(run)["metadata"]["state"] == "cancelled"
    wait_until_none_with(marker)
    [closed] = [event["data"] for event in server.events(run) if event["type"] == "tool.finished"]
    assert closed["outcome"] == "cancelled"
    assert [step["state"] for step in server.steps(run).values()] == ["cancelled", "cancelled"]


def test_a_late_result_is_recorded_and_changes_nothing(home):
    """The tool ends by itself while the cancel, the third commit, is on its way to the disk."""
    points = os.path.join(home.path, "points")
    os.mkfifo(points)
    server = home.serve(BATON_POINTS="store.before_commit=hold@3", BATON_POINTS_GATE=points)
    run, _, gate = gated(home, server)
    answers = []
    teller = threading.Thread(target=lambda: answers.append(server.tell(run, "cancel")))
    teller.start()
    wait_until(lambda: server.figures()["baton_writer_waiting"] == 1)
    gate.send("late\n")
    wait_until(lambda: server.figures()["baton_tools_open"] == 0)
    with open(points, "wb", buffering=0) as file:
        file.write(b"x")
    teller.join()
    assert answers[0].status == 200
    result = server.finish(run)
    assert (result["metadata"]["state"], result["outputs"]) == ("cancelled", {})
    events = server.events(run)
    assert [event["type"] for event in events[-3:]] == ["run.cancelling", "tool.finished", "run.finished"]
    assert events[-2]["data"]["output"]["is"]["stdout"] == "late\n"
    assert {path: step["state"] for path, step in server.steps(run).items()} == {"work": "succeeded", "after": "cancelled"}


def test_cancel_survives_a_kill_and_nothing_is_called_again(home, tell):
    server = home.serve()
    run, told, gate = gated(home, server)
    assert tell(server, run, "cancel")
    server.kill()
    server = home.serve()
    assert server.finish(run)["metadata"]["state"] == "cancelled"
    types = server.types(run)
    assert types.count("run.cancelling") == 1 and "tool.restarted" not in types


def test_cancel_without_a_server(home):
    server = home.serve()
    run, _ = asking(home, server)
    server.kill()
    status, output, errors = home.cli("cancel", run, "-m", "nobody is here")
    assert status == 0, errors
    assert json.loads(output.splitlines()[0]) == {"run_id": run, "command": "cancel"}
    assert state(home.serve(), run) == "cancelled"


def test_cancel_on_a_full_disk_uses_the_reserve(home):
    """Commits: the run with its question; then none finds room until the reserve has given up two slices."""
    server = home.serve(BATON_POINTS="store.before_commit=full@2-5")
    reserve = os.path.join(home.data, "baton.db-reserve")
    run, request = asking(home, server)
    assert os.path.getsize(reserve) == FULL
    assert server.start("asks").status == 507
    assert server.respond(request).status == 507
    assert os.path.getsize(reserve) == FULL  # nothing but a cancel may have it
    assert server.tell(run, "cancel").status == 200
    assert os.path.getsize(reserve) == FULL - 2 * SLICE
    assert state(server, run) == "cancelled"
    server.kill()
    server = home.serve()
    assert state(server, run) == "cancelled"
    assert home.cli("db", "check")[0] == 0


# ---- signals -------------------------------------------------------------------------------------


def test_a_signal_ends_a_wait_with_its_data(home, server, tell):
    home.define(WAITS)
    run = server.run_of("waits")
    server.until(run, "timer.requested")
    assert server.steps(run)["hold"]["signal"] == "deployed"
    assert tell(server, run, "signal", name="other", data=1)
    assert tell(server, run, "signal", name="deployed", data={"version": 7})
    assert server.finish(run)["outputs"] == {"x": 7}
    assert [event["data"]["name"] for event in server.events(run) if event["type"] == "run.signalled"
            ] == ["other", "deployed"]
    assert not tell(server, run, "signal", name="deployed")


def test_a_signal_is_kept_until_something_waits_for_it(home, server, tell):
    home.define(WAITS.replace("- {name: hold,", "- {name: first, human: {question: q}}\n  - {name: hold, depends_on: [first],"))
    run = server.run_of("waits")
    request = server.until(run, "human.requested")["data"]["effect"]
    assert tell(server, run, "signal", name="deployed", data={"version": 8})
    assert server.respond(request).status == 200
    assert server.finish(run)["outputs"] == {"x": 8}


def test_a_signal_survives_a_kill(home, tell):
    server = home.serve()
    home.define(WAITS)
    run = server.run_of("waits")
    server.until(run, "timer.requested")
    assert tell(server, run, "signal", name="deployed", data={"version": 9})
    server.kill()
    assert home.serve().finish(run)["outputs"] == {"x": 9}


def test_a_signal_from_a_file_without_a_server(home):
    server = home.serve()
    home.define(WAITS)
    run = server.run_of("waits")
    server.until(run, "timer.requested")
    server.kill()
    file = os.path.join(home.path, "data.json")
    with open(file, "w") as out:
        out.write('{"version": 10}')
    status, output, errors = home.cli("signal", run, "deployed", "--data", f"@{file}")
    assert status == 0, errors
    assert output.splitlines()[-1] == '{"x":10}'  # this process carried it on


# ---- what all of them refuse ---------------------------------------------------------------------


@pytest.mark.parametrize("command", ["pause", "resume", "cancel", "signal"])
def test_commands_to_nobody(home, server, command):
    words = ["name"] if command == "signal" else []
    assert home.cli(command, new_id(), *words)[0] == EXIT["not_found"]
    assert home.cli(command, "x", *words)[0] == EXIT["usage"]
    assert server.request("POST", f"/api/runs/{new_id()}/{command}", {"name": "x"} if words else {}).status == 404
    assert server.request("POST", f"/api/runs/{new_id()}/{command}", {"more": 1}).status == 422


def test_data_that_is_no_json(home, server):
    run, _ = asking(home, server)
    status, output, errors = home.cli("signal", run, "x", "--data", "{")
    assert (status, output) == (EXIT["usage"], "") and "--data must be JSON, or @FILE" in errors
    assert home.cli("signal", run, "x", "--data", "@nowhere")[0] != 0


@pytest.mark.parametrize("command, body", [("pause", {}), ("cancel", {}), ("signal", {"name": "x"})])
def test_the_same_request_again_is_done_once(home, server, command, body):
    run, _ = asking(home, server)
    key = {"Idempotency-Key": new_id()}
    first = server.tell(run, command, key, **body)
    again = server.tell(run, command, key, **body)
    assert (first.status, again.status) == (200, 200), again
    wanted = {"pause": "run.paused", "cancel": "run.cancelling", "signal": "run.signalled"}[command]
    assert server.types(run).count(wanted) == 1


def cancel_twice(home, **points):
    """A run that is cancelled twice, each time with a key: while the first, the third commit, hangs at a gate, the
    second is decided behind it.  The server, the run, the gate, and the answers that are on their way."""
    hold = home.fifo("hold", "commit")
    rules = ";".join(["store.before_commit=hold@3", *(f"{point.replace('__', '.')}={rule}" for point, rule in points.items())])
    server = home.serve(BATON_POINTS=rules, BATON_POINTS_GATE=str(hold.path))
    run, _, _ = gated(home, server)
    pool = concurrent.futures.ThreadPoolExecutor(2)
    answers = []
    for number, key in enumerate(["one", "two"], 1):
        answers.append(pool.submit(server.tell, run, "cancel", {"Idempotency-Key": key}))
        wait_until(lambda number=number: server.figures()["baton_writer_waiting"] == number)
    pool.shutdown(wait=False)
    return server, run, hold, answers


def check_remembered(server, run, keys):
    """The run has ended, and whoever asks again has the answer of then; somebody new has not."""
    assert server.finish(run)["metadata"]["state"] == "cancelled"
    for key in keys:
        again = server.tell(run, "cancel", {"Idempotency-Key": key})
        assert (again.status, again.body) == (200, {"run_id": run, "command": "cancel"})
        assert server.tell(run, "cancel", {"Idempotency-Key": key}, reason="another").status == 409
    assert server.tell(run, "cancel", {"Idempotency-Key": "three"}).status == 409
    assert server.types(run) == ["run.created", "tool.requested", "run.cancelling", "tool.finished", "run.finished"]


@pytest.mark.parametrize("kill", [False, True])
def test_a_second_cancel_is_remembered_although_it_changes_nothing(home, kill):
    server, run, hold, answers = cancel_twice(home)
    hold.send("x")
    assert [answer.result().status for answer in answers] == [200, 200]
    if kill:
        server.kill()
        server = home.serve()
    check_remembered(server, run, ["one", "two"])
    # The events tell of commits that have some: this one has none.
    told = [commit for event in server.events(run) for commit in event["data"].get("commits", [])]
    assert all(commit.get("first", 1) <= commit.get("last", 1) for commit in told), told


@pytest.mark.parametrize("point, remembered", [("store__before_commit", ["one"]), ("store__after_commit", ["one", "two"])])
def test_a_second_cancel_that_was_cut_off(home, point, remembered):
    """The fourth commit is the second cancel's: what is behind it was remembered, whether or not anybody was told."""
    server, run, hold, answers = cancel_twice(home, **{point: "kill@4"})
    hold.send("x")
    assert server.wait() == -9
    for answer in answers:
        answer.exception()
    check_remembered(home.serve(), run, remembered)


@pytest.mark.parametrize("point", ["store.before_commit", "store.after_commit"])
@pytest.mark.parametrize("command, type", [(["pause"], "run.paused"), (["cancel"], "run.cancelling"),
                                           (["signal", "x"], "run.signalled"), (["approve"], "human.finished"),
                                           (["modify", "--value", "1"], "human.finished")])
def test_a_command_whose_server_died_in_the_middle_is_done_once(home, command, type, point):
    """The command takes the dead server's place and asks again, with the same key."""
    server = home.serve(BATON_POINTS=f"{point}=kill@2")
    run, _ = asking(home, server)
    if command[0] == "signal":  # alone it would follow the run to its end, which is up to us
        command = [*command, "--data", "1"]
        telling = home.begin(command[0], run, *command[1:])
        assert server.wait() == -9
        assert json.loads(telling.line())["command"] == "signal"
        request = home.local("GET", "/api/inbox").body["items"][0]["id"]
        assert home.local("POST", f"/api/inbox/{request}/respond", {"decision": "approve"}).status == 200
        assert telling.wait() == 0
    else:
        status, output, errors = home.cli(command[0], run, *command[1:])
        assert server.wait() == -9
        assert status == 0, errors
        assert json.loads(output.splitlines()[0])["run_id"] == run
    server = home.serve()
    assert server.types(run).count(type) == 1
    assert state(server, run) == {"pause": "paused", "cancel": "cancelled"}.get(command[0], "succeeded")


def test_who_only_looks_tells_nothing(home):
    server = home.serve("--require-key")
    secret = home.cli("key", "create", "looks", "--role", "viewer")[1].strip()
    home.define(ASKS)
    run = new_id()
    assert home.local("POST", "/api/run", {"workflow": "asks", "inputs": {}, "run_id": run}).status == 202
    headers = {"Authorization": f"Bearer {secret}"}
    assert server.get(f"/api/runs/{run}/steps", headers).status == 200
    for command in ("pause", "resume", "cancel", "approve", "reject"):
        assert server.tell(run, command, headers).status == 403
    assert server.tell(run, "signal", headers, name="x").status == 403


def test_a_refusal_waits_for_the_state_that_it_is_measured_against(home):
    """The pause hangs at the disk.  What is refused because of it must not be told so before it is stored: a crash
    now would leave a run that was never paused."""
    hold = home.fifo("hold", "commit")
    server = home.serve(BATON_POINTS="store.before_commit=hold@2", BATON_POINTS_GATE=str(hold.path))
    home.define("name: waits\nsteps: [{name: a, human: {question: 'well?'}}]\n")
    run = server.run_of("waits")

    def ask(path):
        connection = http.client.HTTPConnection(server.address, timeout=PATIENCE_S)
        connection.request("POST", path, "{}", {"Content-Type": "application/json"})
        return connection

    def has_answer(connection):
        return bool(select.select([connection.sock], [], [], 0)[0])

    pause = ask(f"/api/runs/{run}/pause")
    try:
        wait_until(lambda: server.figures()["baton_writer_waiting"] == 1)
        # It was sent before these two questions, each on a connection of its own, so it was decided before the
        # second is answered; its answer, if there were one, would be in our socket.
        again = ask(f"/api/runs/{run}/pause")
        for _ in range(2):
            assert server.get("/api/health").status == 200
        assert not has_answer(pause)
        assert not has_answer(again)
    finally:
        hold.send("x")
    assert pause.getresponse().status == 200
    assert again.getresponse().status == 409
