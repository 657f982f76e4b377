"""Failing steps: what continues behind them, what catches them, and what is undone."""
import pathlib

import pytest
from baton import new_id, wait_until


def run_of(home, server, definition, inputs=None):
    """The run's result once it has ended."""
    return server.finish(server.run_of(home.define(definition), inputs))


def states(server, run):
    return {path: step["state"] for path, step in server.steps(run).items()}


# ---- shell -----------------------------------------------------------------------------------------


def test_an_exit_status_can_be_data(home, server):
    result = run_of(home, server, """
name: status
steps:
  - {name: a, tool: shell, inputs: {command: "echo out; echo err >&2; exit 7", fail_on_status: false}}
outputs: {all: {from: "${steps.a.outputs}"}}
""")
    assert result["status"] == "success"
    assert result["outputs"]["all"] == {"exit_code": 7, "stdout": "out\n", "stderr": "err\n"}


@pytest.mark.parametrize("command, more", [("kill -9 $$", ""), ("sleep 600", ", timeout_seconds: 0.1")])
def test_a_killed_command_has_failed_even_if_its_status_is_data(home, server, command, more):
    result = run_of(home, server, f"""
name: killed
steps:
  - {{name: a, tool: shell, inputs: {{command: "{command}", fail_on_status: false{more}}}}}
""")
    assert result["status"] == "failed", result


def test_the_environment_of_a_command(home, server):
    result = run_of(home, server, """
name: env
inputs: {who: {default: Ada}}
steps:
  - {name: a, tool: shell, inputs: {command: 'echo "$WHO/$EMPTY/$TEXT"; env | wc -l', env: {WHO: "${inputs.who}", EMPTY: "", TEXT: "a b=c $HOME"}}}
  - {name: b, tool: shell, inputs: {command: 'env | wc -l'}}
outputs: {a: {from: "${steps.a.outputs.stdout}"}, b: {from: "${steps.b.outputs.stdout}"}}
""")
    line, count = result["outputs"]["a"].splitlines()
    assert line == "Ada//a b=c $HOME"
    assert int(count) == int(result["outputs"]["b"]) + 3


@pytest.mark.parametrize("env", [{"A=B": "c"}, {"": "x"}, {"1A": "x"}, {"BIG": "x" * 40000}])
def test_an_environment_that_cannot_be(home, server, env):
    result = run_of(home, server, """
name: badenv
inputs: {env: {type: object}}
steps:
  - {name: a, tool: shell, inputs: {command: "true", env: "${inputs.env}"}}
""", {"env": env})
    assert result["status"] == "failed" and "env" in result["error"], result


@pytest.mark.parametrize("name", ["A=B", "", "1A"])
def test_a_variable_that_cannot_be_is_refused_with_its_definition(home, server, name):
    home.define(f"name: badenv\nsteps:\n  - {{name: a, tool: shell, inputs: {{command: 'true', env: {{'{name}': x}}}}}}\n")
    refused = server.start("badenv")
    assert (refused.status, refused.body["code"]) == (422, "invalid"), refused
    assert f"{name} is not the name of an environment variable" in refused.body["detail"]


# ---- continue_on_error -----------------------------------------------------------------------------


CONTINUES = """
name: continues
steps:
  - {name: bad, tool: shell, inputs: {command: "echo no >&2; exit 3"}, continue_on_error: true}
  - {name: behind, tool: echo, depends_on: [bad], inputs: {status: "${steps.bad.status}", error: "${steps.bad.error}"}}
  - {name: only_if, tool: echo, depends_on: [bad], when: "steps.bad.status == 'success'"}
outputs: {behind: {from: "${steps.behind.outputs}"}, none: {from: "${steps.behind.error}", optional: true}}
"""


def test_continue_on_error(home, server):
    result = run_of(home, server, CONTINUES)
    assert result["status"] == "success", result
    assert result["outputs"] == {
        "behind": {"status": "failed", "error": {"code": "tool_failed", "message": "exit status 3: no"}}, "none": None}
    assert states(server, result["run_id"]) == {"bad": "failed", "behind": "succeeded", "only_if": "skipped"}


def test_a_container_continues_too_and_retries_come_first(home, server):
    result = run_of(home, server, """
name: inner
steps:
  - name: group
    continue_on_error: true
    parallel:
      serial: true
      steps:
        - {name: flaky, tool: shell, inputs: {command: "echo x >> tries; exit 1"}, retry: {max_retries: 2, base_delay: 0}}
  - {name: count, tool: shell, depends_on: [group], inputs: {command: "wc -l < tries"}}
outputs: {tries: {from: "${int(steps.count.outputs.stdout)}"}, code: {from: "${steps.group.error.code}"}}
""")
    assert (result["status"], result["outputs"]) == ("success", {"tries": 3, "code": "tool_failed"})
    assert states(server, result["run_id"]) == {"group": "failed", "group/flaky": "failed", "count": "succeeded"}


def test_continue_on_error_after_a_crash(home):
    """The failed step is committed, its dependent is open: after kill -9 the run ends as it would have."""
    server = home.serve()
    home.define(CONTINUES.replace("behind, tool: echo, depends_on: [bad], inputs: {", "behind, human: {question: go on?}, depends_on: [bad], inputs: {"))
    run = server.run_of("continues")
    server.until(run, "human.requested")
    server.kill()
    server = home.serve()
    [question] = server.inbox()
    assert server.respond(question["id"]).status == 200
    result = server.finish(run)
    assert result["status"] == "success"
    assert states(server, run) == {"bad": "failed", "behind": "succeeded", "only_if": "skipped"}


# ---- try, catch, finally ----------------------------------------------------------------------------


def test_a_caught_failure_is_a_success_with_the_output_of_the_catch(home, server):
    result = run_of(home, server, """
name: caught
steps:
  - name: deploy
    tool: shell
    inputs: {command: "echo broken >&2; exit 4"}
    retry: {max_retries: 1, base_delay: 0}
    catch:
      - {name: note, tool: echo, inputs: {error: "${error}", status: "${steps.deploy.status}"}}
    finally:
      - {name: tidy, tool: shell, inputs: {command: "echo '${error.code}' > tidied"}}
  - {name: after, tool: shell, depends_on: [deploy], inputs: {command: "cat tidied"}}
outputs: {deploy: {from: "${steps.deploy.outputs}"}, tidied: {from: "${steps.after.outputs.stdout}"}}
""")
    assert result["status"] == "success", result
    assert result["outputs"] == {
        "deploy": {"error": {"step": "deploy/deploy", "code": "tool_failed", "message": "exit status 4: broken"}, "status": "failed"},
        "tidied": "tool_failed\n"}
    assert states(server, result["run_id"]) == {
        "deploy": "succeeded", "deploy/deploy": "failed", "deploy/note": "succeeded", "deploy/tidy": "succeeded",
        "after": "succeeded"}


def test_try_without_a_failure_skips_its_catch(home, server):
    result = run_of(home, server, """
name: fine
steps:
  - name: block
    try:
      steps:
        - {name: a, tool: echo, inputs: {n: 1}}
        - {name: b, tool: echo, depends_on: [a], inputs: {n: "${steps.a.outputs.n + 1}"}}
      catch:
        - {name: never, tool: shell, inputs: {command: "touch never"}}
      finally:
        - {name: look, tool: shell, inputs: {command: "ls; echo '${error}'"}}
  - {name: after, tool: echo, depends_on: [block], inputs: {b: "${steps.block.outputs.b.n}"}}
outputs: {b: {from: "${steps.after.outputs.b}"}}
""")
    assert (result["status"], result["outputs"]) == ("success", {"b": 2})
    assert "block/never" not in states(server, result["run_id"])


@pytest.mark.parametrize("catch, failed, code", [
    ("", "step block/bad: exit status 1", "tool_failed"),
    ("catch: [{name: worse, tool: shell, inputs: {command: 'exit 2'}}]", "step block/worse: exit status 2", "tool_failed")])
def test_finally_runs_when_nothing_is_caught(home, server, catch, failed, code):
    result = run_of(home, server, f"""
name: uncaught
steps:
  - name: block
    try:
      steps: [{{name: bad, tool: shell, inputs: {{command: "exit 1"}}}}]
      {catch}
      finally: [{{name: tidy, tool: shell, inputs: {{command: "touch tidied"}}}}]
  - {{name: after, tool: echo, depends_on: [block]}}
""")
    assert result["status"] == "failed" and failed in result["error"] and code in result["error"], result
    assert home.workspace(result["run_id"], "tidied").exists()
    assert states(server, result["run_id"])["after"] == "skipped"


HELD = """
name: held
steps:
  - name: block
    try:
      steps:
        - {name: hold, tool: shell, inputs: {command: "echo up > told; sleep 600"}}
      finally:
        - {name: tidy, tool: shell, inputs: {command: "echo tidy > told; read -r word < gate; echo '${error.code}' > tidied"}}
        - {name: last, tool: echo, depends_on: [tidy]}
  - {name: after, tool: echo, depends_on: [block]}
"""


def start_held(home, server):
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define(HELD)
    assert server.start("held", run_id=run).status == 202
    assert told.await_line() == "up"
    return run, told, gate


def test_finally_runs_when_the_run_is_cancelled(home, server):
    run, told, gate = start_held(home, server)
    assert server.tell(run, "cancel").status == 200
    assert told.await_line() == "tidy"
    assert states(server, run) == {
        "block": "running", "block/hold": "cancelled", "block/tidy": "running", "after": "cancelled"}
    gate.send()
    assert server.finish(run)["status"] == "failed"
    assert home.workspace(run, "tidied").read_text() == "cancelled\n"
    assert states(server, run) == {"block": "cancelled", "block/hold": "cancelled", "block/tidy": "succeeded",
                                   "block/last": "succeeded", "after": "cancelled"}
    types = server.types(run)
    assert types.count("run.unwinding") == 1
    assert types.index("run.cancelling") < types.index("run.unwinding") < types.index("run.finished")


def test_a_second_cancel_ends_the_finally_steps(home, server):
    run, told, gate = start_held(home, server)
    assert server.tell(run, "cancel").status == 200
    assert told.await_line() == "tidy"
    assert server.tell(run, "cancel").status == 200
    server.finish(run)
    assert not home.workspace(run, "tidied").exists()
    assert states(server, run) == {"block": "cancelled", "block/hold": "cancelled", "block/tidy": "cancelled",
                                   "after": "cancelled"}
    assert server.types(run).count("run.cancelling") == 2


def test_finally_steps_have_a_deadline_of_their_own(home, server):
    # Long enough for the step to begin on a busy machine; it never ends by itself.
    home.define(HELD.replace("name: held\n", "name: held\nunwind_timeout: 5\n"))
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    assert server.start("held", run_id=run).status == 202
    assert told.await_line() == "up"
    assert server.tell(run, "cancel").status == 200
    server.finish(run)
    assert states(server, run)["block/tidy"] in ("cancelled", "failed")
    second = [event["data"] for event in server.events(run) if event["type"] == "run.cancelling"][1]
    assert second["by"] == "baton" and "timeout" in second["reason"]


def test_a_run_whose_finally_steps_ran_is_retried(home, server):
    """The run fails at its deadline; the retry begins the try anew, and what it did before stays in its history."""
    home.define("""
name: again
timeout: 3
steps:
  - {name: before, tool: echo}
  - name: block
    depends_on: [before]
    try:
      steps:
        - {name: hold, tool: shell, inputs: {command: "test -e tidied || sleep 600"}}
      finally:
        - {name: tidy, tool: shell, inputs: {command: "touch tidied"}}
  - {name: after, tool: echo, depends_on: [block]}
""")
    run = server.request("POST", "/api/run", {"workflow": "again", "inputs": {}}).body["run_id"]
    assert "timeout" in server.finish(run)["error"]
    assert states(server, run) == {"before": "succeeded", "block": "cancelled", "block/hold": "cancelled",
                                   "block/tidy": "succeeded", "after": "cancelled"}
    assert server.tell(run, "retry").status == 200
    wait_until(lambda: server.types(run).count("run.finished") == 2)
    assert server.result(run)["status"] == "success"
    assert states(server, run) == {
        "before": "succeeded", "block": "cancelled", "block/hold": "cancelled", "block/tidy": "succeeded", "after": "cancelled",
        "block#2": "succeeded", "block#2/hold": "succeeded", "block#2/tidy": "succeeded", "after#2": "succeeded"}
    assert server.types(run).count("run.unwinding") == 1


BRANCHES = """
name: branches
steps:
  - name: both
    parallel:
      steps:
        - name: left
          try:
            steps: [{name: hold, tool: shell, inputs: {command: "echo mine > held; sleep 600"}}]
            finally: [{name: tidy, tool: shell, inputs: {command: "cat held"}}]
        - {name: right, tool: shell, inputs: {command: "sleep 600"}}
"""


@pytest.mark.parametrize("crash", [False, True])
def test_a_finally_step_works_in_the_folder_of_its_branch(home, crash):
    server = home.serve()
    run = server.run_of(home.define(BRANCHES))
    wait_until(lambda: server.types(run).count("tool.requested") == 2)
    wait_until(lambda: home.branch_files(run, "held"))
    if crash:
        server.kill()
        server = home.serve()
        wait_until(lambda: server.types(run).count("tool.restarted") == 2 and home.branch_files(run, "held"))
    assert server.tell(run, "cancel").status == 200
    assert server.finish(run)["status"] == "failed"
    assert states(server, run) == {"both": "cancelled", "both/left": "cancelled", "both/left/hold": "cancelled",
                                   "both/left/tidy": "succeeded", "both/right": "cancelled"}
    tidy = [e["data"] for e in server.events(run) if e["type"] == "tool.requested" and e["data"]["step"] == "both/left/tidy"]
    assert [data["folder"] for data in tidy] == ["both/left"]
    assert "branch.ended" not in server.types(run)


def test_finally_of_a_cancelled_run_survives_kill_9(home):
    server = home.serve()
    run, told, gate = start_held(home, server)
    assert server.tell(run, "cancel").status == 200
    assert told.await_line() == "tidy"
    server.kill()
    server = home.serve()
    assert told.await_line() == "tidy"
    gate.send()
    assert server.finish(run)["status"] == "failed"
    assert home.workspace(run, "tidied").read_text() == "cancelled\n"
    assert [data["step"] for data in (e["data"] for e in server.events(run) if e["type"] == "tool.restarted")] == ["block/tidy"]
    assert server.types(run).count("run.unwinding") == 1


@pytest.mark.parametrize("part", ["catch", "finally"])
def test_catch_and_finally_survive_kill_9(home, part):
    server = home.serve()
    home.define(f"""
name: killed
steps:
  - name: work
    tool: shell
    inputs: {{command: "exit 1"}}
    {part}:
      - {{name: mend, tool: shell, inputs: {{command: "echo up > told; read -r word < gate; echo $word"}}}}
outputs: {{said: {{from: "${{steps.work.outputs.stdout}}", optional: true}}}}
""")
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    assert server.start("killed", run_id=run).status == 202
    assert told.await_line() == "up"
    server.kill()
    server = home.serve()
    assert told.await_line() == "up"
    gate.send("well\n")
    result = server.finish(run)
    assert (result["status"], result["outputs"].get("said")) == (("success", "well\n") if part == "catch" else ("failed", None))
    assert states(server, run)["work/mend"] == "succeeded"


@pytest.mark.parametrize("definition, problem", [
    ("{name: a, tool: echo, try: {steps: [{name: b, tool: echo}]}}", "exactly one of"),
    ("{name: a, try: {steps: [{name: b, tool: echo}]}}", "/steps/0/try: a try needs catch or finally"),
    ("{name: a, try: {steps: [{name: b, tool: echo}]}, catch: [{name: c, tool: echo}]}", "write catch and finally inside try"),
    ("{name: a, tool: echo, catch: [{name: c, tool: nope}]}", "/steps/0/catch/0/tool: unknown tool nope"),
    ("{name: a, tool: echo, finally: [{name: c, tool: echo, depends_on: [a]}]}", "step a is in another part of the try (steps)"),
    ("{name: a, tool: echo, catch: [{name: a, tool: echo}]}", "duplicate step name a"),
    ("{name: a, tool: echo, inputs: {x: '${error.code}'}}", "unknown name error")])
def test_a_try_that_cannot_be(home, definition, problem):
    file = pathlib.Path(home.path, "bad.yaml")
    file.write_text(f"name: bad\nsteps:\n  - {definition}\n")
    status, _, errors = home.cli("run", str(file))
    assert status != 0 and problem in errors, errors
