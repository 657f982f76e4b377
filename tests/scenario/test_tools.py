"""Built-in tools from outside, and for each effect class: kill -9 between request and result."""
import contextlib
import pathlib

import pytest
from baton import ROOT, Gone, killed, new_id, wait_until
from world import World

CLASSES = {"noop": "pure", "echo": "pure", "json_transform": "pure", "sleep": "idempotent", "read_file": "idempotent",
           "http_fetch": "idempotent", "http_send": "keyed", "append_line": "probe", "write_artifact": "probe", "read_artifact": "idempotent",
           "write_file": "contained", "edit_file": "contained", "list_dir": "idempotent", "glob": "idempotent", "grep": "idempotent",
           "git_status": "idempotent", "git_diff": "idempotent", "git_commit": "probe",
           "git_snapshot": "idempotent", "git_restore": "contained", "git_hooks": "contained", "git_checkout": "idempotent", "git_publish": "idempotent",
           "write_todos": "pure", "submit": "pure", "template_render": "pure",
           "shell": "contained", "http_send_once": "once", "check_files": "idempotent", "view_file": "probe", "write_plan": "contained", "plan_check": "pure",
           "design_read": "pure", "plan_path": "idempotent", "issue_read": "idempotent", "issue_list": "idempotent", "issue_comment": "probe", "pull_request_open": "probe",
           "pull_request_feedback": "idempotent", "evaluation_sort": "pure", "review_merge": "pure", "notify": "keyed"}
LOOPBACK = {"BATON_TOOLS_PRIVATE_ADDRESSES": "127.0.0.1"}


def one_step(tool, inputs, more=""):
    """A definition of one step, its inputs in YAML's flow style."""
    return f"name: one\nsteps:\n  - name: step\n    tool: {tool}\n    inputs: {inputs}\n{more}outputs:\n  all: {{from: '${{steps.step.outputs}}'}}\n"


def run(home, server, tool, inputs, **more):
    """Ends with the run's result."""
    home.define(one_step(tool, inputs))
    return server.start("one", wait=True, **more).body


def kill_at(home, point, definition, **environment):
    """Runs into the point; gives the run's id once the program is dead."""
    run = new_id()
    home.define(definition)
    server = home.serve(BATON_POINTS=f"{point}=kill", **environment)
    with contextlib.suppress(Gone):
        server.start("one", run_id=run)
    assert killed(server), server.errors()
    return run


def finish(home, run, settle=None, **environment):
    """Starts it again; the run's result and its events.  `settle` is what a person says became of its call."""
    server = home.serve(**environment)
    if settle is not None:
        assert server.settle(run, settle)["step"] == "step"
        assert server.types(run).count("tool.requested") == 1
    result = server.finish(run)
    return result, server.events(run)


def of_type(events, type):
    return [event["data"] for event in events if event["type"] == type]


# ---- what they do --------------------------------------------------------------------------------


def test_noop_echo_and_transform_are_computed(home, server):
    assert run(home, server, "noop", "{anything: 1}")["outputs"] == {"all": {}}
    result = run(home, server, "json_transform",
                 "{input: [{n: 1, x: 2}, {n: 5}], operations: [{filter: {at: /n, at_least: 2}}, {get: /0/n}]}")
    assert result["outputs"] == {"all": {"result": 5}}
    assert server.types(result["run_id"]) == ["run.created", "step.computed", "run.finished"]


def test_a_transform_that_cannot_be_done_fails_the_step_and_says_where(home, server):
    result = run(home, server, "json_transform", "{input: {}, operations: [{get: /a}]}")
    assert result["status"] == "failed"
    assert "operation 1: get found nothing at /a" in str(result)


def test_files_of_the_workspace_are_shared_with_the_shell(home, server):
    home.define("""
name: files
steps:
  - {name: write, tool: write_file, inputs: {path: notes/a.txt, content: "written\\n"}}
  - {name: add, tool: shell, depends_on: [write], inputs: {command: "cat notes/a.txt; echo added >> notes/a.txt"}}
  - {name: read, tool: read_file, depends_on: [add], inputs: {path: notes/a.txt}}
outputs:
  seen: {from: "${steps.add.outputs.stdout}"}
  read: {from: "${steps.read.outputs.content}"}
""")
    assert server.start("files", wait=True).body["outputs"] == {"seen": "written\n", "read": "written\nadded\n"}


@pytest.mark.parametrize("path", ["../../baton.db", "/etc/passwd", "link"])
def test_nothing_outside_the_workspace_is_read_or_written(home, server, path):
    home.define(f"""
name: out
steps:
  - {{name: link, tool: shell, inputs: {{command: "ln -s /etc/passwd link"}}}}
  - {{name: read, tool: read_file, depends_on: [link], inputs: {{path: "{path}"}}}}
  - {{name: write, tool: write_file, depends_on: [link], inputs: {{path: "{path}", content: x}}}}
""")
    result = server.start("out", wait=True).body
    assert result["status"] == "failed"
    faults = {data["step"]: data["fault"]["code"] for data in of_type(server.events(result["run_id"]), "tool.finished")
              if data["outcome"] == "failed"}
    assert faults == {"read": "forbidden", "write": "forbidden"}


def test_lines_are_appended_beneath_their_root(home):
    root = pathlib.Path(home.path, "elsewhere")
    server = home.serve(BATON_TOOLS_APPEND_ROOT=str(root))
    for line in ("first", "second"):
        result = run(home, server, "append_line", f"{{path: a/log, line: {line}}}")
        assert result["status"] == "success"
    lines = (root / "a" / "log").read_text().splitlines()
    assert [line.split()[0] for line in lines] == ["first", "second"]
    effects = {line.split()[1] for line in lines}
    assert len(effects) == 2
    assert result["outputs"]["all"] == {"path": "a/log", "line": lines[1]}
    result = run(home, server, "append_line", "{path: ../log, line: x}")
    assert result["status"] == "failed" and not pathlib.Path(home.path, "log").exists()


def test_the_example_of_the_page_on_tools_does_what_it_says(home):
    page = (pathlib.Path(ROOT) / "docs" / "tools.md").read_text()
    steps = page.split("```yaml\n")[1].split("```")[0]
    items = [{"name": "a", "size": 10}, {"name": "b", "size": 2000, "more": 1}]
    with World() as world:
        world.answers["/data.json"] = {"items": items}
        server = home.serve(**LOOPBACK)
        home.define("name: page\n" + steps.replace("https://example.org", world.base)
                    + "outputs: {all: {from: '${steps.large.outputs.result}'}}\n")
        assert server.start("page", wait=True).body["outputs"] == {"all": [{"name": "b", "size": 2000}]}


# ---- every class, killed between request and result ------------------------------------------------


def test_pure_is_computed_again_without_a_word(home):
    run = kill_at(home, "store.before_commit", one_step("json_transform", "{input: 1, operations: []}"))
    server = home.serve()
    if server.get(f"/api/runs/{run}").status == 404:  # the plug was pulled before the run itself was stored
        server.start("one", run_id=run)
    result, events = server.finish(run), server.events(run)
    assert result["outputs"] == {"all": {"result": 1}}
    assert [event["type"] for event in events] == ["run.created", "step.computed", "run.finished"]


@pytest.mark.parametrize("point", ["tool.before_start", "tool.ended"])
def test_idempotent_is_repeated_and_marked(home, point):
    with World() as world:
        run = kill_at(home, point, one_step("http_fetch", f"{{url: '{world.base}/text'}}"), **LOOPBACK)
        before = len(world.ledger)
        assert before == (1 if point == "tool.ended" else 0)
        result, events = finish(home, run, **LOOPBACK)
        assert result["outputs"]["all"]["body"] == "grüße"
        assert len(world.ledger) == before + 1
    assert [data["attempt"] for data in of_type(events, "tool.restarted")] == [2]


def test_a_sleep_is_slept_again(home):
    run = kill_at(home, "tool.ended", one_step("sleep", "{seconds: 0.01}"))
    result, events = finish(home, run)
    assert result["outputs"] == {"all": {"seconds": 0.01}}
    assert len(of_type(events, "tool.restarted")) == 1


@pytest.mark.parametrize("point", ["tool.before_start", "tool.ended"])
def test_keyed_is_repeated_with_the_same_key(home, point):
    with World() as world:
        definition = one_step("http_send", f"{{url: '{world.base}/order', json: {{n: 1}}}}")
        run = kill_at(home, point, definition, **LOOPBACK)
        result, events = finish(home, run, **LOOPBACK)
        assert result["outputs"]["all"]["body"] == 'POST /order {"n":1}'
        keys = [asked.headers["Idempotency-Key"] for asked in world.ledger]
    effect = of_type(events, "tool.requested")[0]["effect"]
    assert keys == [effect] * (2 if point == "tool.ended" else 1)
    assert len(of_type(events, "tool.restarted")) == 1


@pytest.mark.parametrize("point", ["append.written", "tool.ended"])
def test_probe_that_happened_is_closed_and_not_repeated(home, point):
    run = kill_at(home, point, one_step("append_line", "{path: log, line: once}"))
    log = pathlib.Path(home.data, "journal", "log")
    written = log.read_text()
    result, events = finish(home, run)
    assert log.read_text() == written == result["outputs"]["all"]["line"] + "\n"
    assert of_type(events, "tool.restarted") == []
    assert [data["outcome"] for data in of_type(events, "tool.finished")] == ["ok"]


def test_a_line_that_was_written_when_its_call_was_stopped_is_told_of(home):
    gate = home.fifo(new_id(), "points")
    server = home.serve(BATON_POINTS="append.written=hold", BATON_POINTS_GATE=str(gate.path), BATON_POINTS_TRACE=home.path + "/trace")
    home.define(one_step("append_line", "{path: log, line: once}"))
    run = server.run_of("one")
    wait_until(lambda: "append.written" in pathlib.Path(home.path, "trace").read_text().split())
    assert server.request("POST", f"/api/runs/{run}/cancel", {}).status == 200
    gate.send()
    server.finish(run)
    assert of_type(server.events(run), "run.finished")[0]["outcome"] == "cancelled"
    [closed] = of_type(server.events(run), "tool.finished")
    assert closed["outcome"] == "ok"
    assert pathlib.Path(home.data, "journal", "log").read_text() == closed["output"]["is"]["line"] + "\n"


def test_probe_that_did_not_happen_is_repeated_and_marked(home):
    run = kill_at(home, "tool.before_start", one_step("append_line", "{path: log, line: once}"))
    log = pathlib.Path(home.data, "journal", "log")
    assert not log.exists()
    result, events = finish(home, run)
    assert log.read_text() == result["outputs"]["all"]["line"] + "\n"
    assert len(of_type(events, "tool.restarted")) == 1


def test_probe_of_a_step_with_long_inputs(home):
    """Its inputs are stored by hash: they are read before the tool is asked."""
    run = kill_at(home, "tool.ended", one_step("append_line", f"{{path: log, line: {'x' * 2000}}}"))
    result, events = finish(home, run)
    assert pathlib.Path(home.data, "journal", "log").read_text().count("\n") == 1
    assert result["status"] == "success" and of_type(events, "tool.restarted") == []


def test_probe_that_cannot_see_leaves_it_to_a_person(home):
    run = kill_at(home, "tool.ended", one_step("append_line", "{path: log, line: once}"))
    log = pathlib.Path(home.data, "journal", "log")
    log.unlink()
    log.mkdir()  # no line can be looked for in a folder
    result, events = finish(home, run, "not_happened")
    assert result["status"] == "failed"
    [closed] = of_type(events, "tool.finished")
    assert closed["outcome"] == "unknown" and closed["fault"]["code"] == "outcome_unknown"


@pytest.mark.parametrize("point", ["tool.before_start", "tool.ended"])
def test_contained_is_restored_and_repeated(home, point):
    run = kill_at(home, point, one_step("write_file", "{path: made, content: x, overwrite: false}"))
    assert home.workspace(run, "made").exists() == (point == "tool.ended")
    # It would be a conflict with itself, had the workspace not been put back.
    result, events = finish(home, run)
    assert result["status"] == "success", result
    assert len(of_type(events, "tool.restarted")) == 1
    assert home.workspace(run, "made").read_text() == "x"


@pytest.mark.parametrize("point", ["tool.before_start", "tool.ended"])
def test_once_is_never_repeated(home, point):
    with World() as world:
        definition = one_step("http_send_once", f"{{url: '{world.base}/order', body: pay}}")
        run = kill_at(home, point, definition, **LOOPBACK)
        result, events = finish(home, run, "not_happened", **LOOPBACK)
        assert len(world.ledger) == (1 if point == "tool.ended" else 0)
        assert not [asked for asked in world.ledger if "Idempotency-Key" in asked.headers]
    assert result["status"] == "failed"
    closed = of_type(events, "tool.finished")
    assert [(data["outcome"], data["fault"]["code"]) for data in closed] == [("unknown", "outcome_unknown")]
    assert of_type(events, "tool.restarted") == []


def test_once_without_an_answer_is_a_question_and_no_retry(home):
    """The request was sent and the connection cut: nobody can say whether it was done."""
    server = home.serve(**LOOPBACK)
    with World() as world:
        home.define(one_step("http_send_once", f"{{url: '{world.base}/cut', body: pay}}", "    retry: {max_retries: 3, base_delay: 0}\n"))
        run = server.run_of("one")
        asked = server.until(run, "human.requested")["data"]
        assert asked["kind"] == "outcome_unknown"
        assert [request.path for request in world.ledger] == ["/cut"]
        closed = of_type(server.events(run), "tool.finished")
        assert [(data["outcome"], data["fault"]["code"]) for data in closed] == [("unknown", "outcome_unknown")]
        server.respond(asked["effect"], "happened", value={"seen": True}, revision=asked["revision"])
        assert server.finish(run)["status"] == "success"
        assert len(world.ledger) == 1


def test_once_that_never_left_has_failed(home):
    """Nobody listens there: nothing can have happened."""
    server = home.serve(**LOOPBACK)
    with World() as world:
        nowhere = world.base
    result = run(home, server, "http_send_once", f"{{url: '{nowhere}/order', body: pay}}")
    assert result["status"] == "failed" and "Couldn't connect" in result["error"], result


def test_once_never_goes_over_a_kept_connection(home):
    """Libcurl sends again by itself what was lost on a kept connection that turns out to be dead."""
    server = home.serve(**LOOPBACK)
    with World() as world:
        fetch = run(home, server, "http_fetch", f"{{url: '{world.base}/text'}}")
        assert fetch["status"] == run(home, server, "http_fetch", f"{{url: '{world.base}/text'}}")["status"] == "success"
        assert world.connections == 1
        for count in (2, 3):
            assert run(home, server, "http_send_once", f"{{url: '{world.base}/order', body: pay}}")["status"] == "success"
            assert world.connections == count
