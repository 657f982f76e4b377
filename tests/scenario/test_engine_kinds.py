"""Every kind of node once, end to end through the interface."""
import pytest
from baton import Gone, killed, new_id, wait_until


def states(server, run):
    return {path: step["state"] for path, step in server.steps(run).items()}


def run_of(home, server, definition, inputs=None):
    """The run's result once it has ended."""
    name = home.define(definition)
    return server.finish(server.run_of(name, inputs))


def events_of(server, run, type):
    return [event["data"] for event in server.events(run) if event["type"] == type]


# ---- bodies --------------------------------------------------------------------------------------


def test_parallel(home, server):
    """Both are under way at the same time: each waits until the other one is."""
    home.define("""
name: both
steps:
  - name: both
    parallel:
      steps:
        - {name: left, wait: {signal: left}}
        - {name: right, wait: {signal: right}}
  - {name: after, tool: echo, depends_on: [both], inputs: {l: "${steps.both.outputs.left}", r: "${steps.both.outputs.right}"}}
outputs: {all: {from: "${steps.after.outputs}"}}
""")
    run = server.run_of("both")
    wait_until(lambda: server.types(run).count("timer.requested") == 2)
    assert states(server, run) == {"both": "running", "both/left": "running", "both/right": "running", "after": "pending"}
    assert server.tell(run, "signal", name="right", data=2).status == 200
    assert server.tell(run, "signal", name="left", data=1).status == 200
    assert server.finish(run)["outputs"]["all"] == {"l": 1, "r": 2}


def test_map(home, server):
    result = run_of(home, server, """
name: each
inputs: {who: {type: array}}
steps:
  - name: greet
    map:
      over: "${inputs.who}"
      as: one
      steps:
        - {name: say, tool: echo, inputs: {text: "hello, ${one}"}}
outputs: {all: {from: "${steps.greet.outputs}"}}
""", {"who": ["ann", "bob", "eve"]})
    assert result["outputs"]["all"] == [{"text": f"hello, {one}"} for one in ("ann", "bob", "eve")]
    assert list(states(server, result["run_id"])) == ["greet", "greet[0]/say", "greet[1]/say", "greet[2]/say"]


def test_map_so_many_at_once(home, server):
    home.define("""
name: few
steps:
  - name: each
    map:
      over: [1, 2, 3]
      at_once: 2
      steps:
        - {name: ask, human: {question: "${item}?"}}
outputs: {n: {from: "${steps.each.outputs}"}}
""")
    run = server.run_of("few")
    wait_until(lambda: len(server.inbox()) == 2)
    assert sorted(item["question"] for item in server.inbox()) == ["1?", "2?"]
    for wanted in (["2?", "3?"], ["3?"], []):
        first = min(server.inbox(), key=lambda item: item["question"])
        assert server.respond(first["id"]).status == 200
        wait_until(lambda: sorted(item["question"] for item in server.inbox()) == wanted)
    assert len(server.finish(run)["outputs"]["n"]) == 3


def test_map_of_nothing_and_of_no_list(home, server):
    definition = """
name: none
inputs: {items: {type: object}}
steps:
  - {name: each, map: {over: "${inputs.items.list}", steps: [{name: say, tool: echo}]}}
outputs: {all: {from: "${steps.each.outputs}", optional: true}}
"""
    assert run_of(home, server, definition, {"items": {"list": []}})["outputs"] == {"all": []}
    result = run_of(home, server, definition, {"items": {"list": "x"}})
    assert result["status"] == "failed" and "invalid" in result["error"]


def test_loop(home, server):
    result = run_of(home, server, """
name: rounds
steps:
  - name: grow
    loop:
      until: "steps.count.outputs.stdout == '3\\n'"
      max: 5
      steps:
        - {name: count, tool: shell, inputs: {command: "echo x >> rounds; wc -l < rounds"}}
outputs: {n: {from: "${steps.grow.outputs.stdout}"}}
""")
    assert result["outputs"] == {"n": "3\n"}
    assert list(states(server, result["run_id"])) == [
        "grow", "grow/count", "grow#2", "grow#2/count", "grow#3", "grow#3/count"]


@pytest.mark.parametrize("most, rounds", [(2, 2), ("${inputs.most}", 4)])
def test_loop_until_of_a_step(home, server, most, rounds):
    result = run_of(home, server, f"""
name: again
inputs: {{most: {{type: number, default: 4}}}}
steps:
  - {{name: try, tool: shell, inputs: {{command: "echo x >> tries; wc -l < tries"}}, loop_until: "output.stdout == 'never'", loop_max: {most!r}}}
outputs: {{n: {{from: "${{steps.try.outputs.stdout}}"}}}}
""".replace("'${inputs.most}'", '"${inputs.most}"'))
    assert result["outputs"] == {"n": f"{rounds}\n"}, result
    assert len(states(server, result["run_id"])) == rounds


# ---- conditions and edges ------------------------------------------------------------------------


@pytest.mark.parametrize("word, ran, passed_over", [("go", "aye", "nay"), ("stop", "nay", "aye")])
def test_when_and_unless(home, server, word, ran, passed_over):
    result = run_of(home, server, """
name: either
inputs: {word: {type: string}}
steps:
  - {name: aye, tool: shell, when: "inputs.word == 'go'", inputs: {command: "echo aye"}}
  - {name: nay, tool: shell, unless: "inputs.word == 'go'", inputs: {command: "echo nay"}}
  - {name: after, tool: echo, depends_on: [aye, nay], inputs: {aye: "${steps.aye.outputs.stdout}", nay: "${steps.nay.outputs.stdout}"}}
outputs: {all: {from: "${steps.after.outputs}"}}
""", {"word": word})
    assert result["outputs"]["all"] == {ran: f"{ran}\n", passed_over: None}
    assert states(server, result["run_id"]) == {ran: "succeeded", passed_over: "skipped", "after": "succeeded"}
    [skipped] = events_of(server, result["run_id"], "step.skipped")
    assert (skipped["step"], skipped["reason"]) == (passed_over, "condition")


CYCLE = """
name: cycle
inputs: {wanted: {type: string}}
steps:
  - {name: draft, tool: shell, join: any, entry: true, max_iterations: 4, inputs: {command: "echo x >> drafts; printf '{\\"n\\": %s}' $(wc -l < drafts)"}, next: [{to: judge}]}
  - {name: judge, condition: "steps.draft.outputs.stdout", join: any, next: [{to: draft, when: "steps.draft.outputs.stdout != inputs.wanted"}, {to: done, when: "steps.draft.outputs.stdout == inputs.wanted"}]}
  - {name: done, tool: echo, join: any, inputs: {said: "${steps.draft.outputs.stdout}"}}
outputs: {said: {from: "${steps.done.outputs.said}", optional: true}}
"""


def test_a_condition_chooses_its_edges_round_and_round(home, server):
    result = run_of(home, server, CYCLE, {"wanted": '{"n": 3}'})
    assert (result["status"], result["outputs"]) == ("success", {"said": '{"n": 3}'}), result
    assert sorted(states(server, result["run_id"])) == ["done", "draft", "draft#2", "draft#3", "judge", "judge#2", "judge#3"]


def test_a_cycle_is_bounded(home, server):
    result = run_of(home, server, CYCLE, {"wanted": "never"})
    assert result["status"] == "failed" and "limit_reached" in result["error"]
    assert len([path for path in states(server, result["run_id"]) if path.startswith("draft")]) == 4


# ---- time ----------------------------------------------------------------------------------------


def test_retry_with_its_attempts(home, server):
    result = run_of(home, server, """
name: tries
steps:
  - name: flaky
    tool: http_fetch
    inputs: {url: "http://127.0.0.1:1/"}
    retry: {max_retries: 2, base_delay: 0.01, max_delay: 0.05, on: [forbidden, tool_failed, unavailable]}
""")
    assert result["status"] == "failed"
    run = result["run_id"]
    requested = events_of(server, run, "tool.requested")
    assert [data.get("attempt", 1) for data in requested] == [1, 2, 3]
    assert len({data["effect"] for data in requested}) == 1
    closed = events_of(server, run, "tool.finished")
    assert ["retry_at" in data.get("next", {}) for data in closed] == [True, True, False]
    assert server.steps(run)["flaky"]["attempts"] == 3
    assert "attempt 3" in home.cli("show", run)[1]


def test_a_retry_that_helps(home, server):
    """A contained tool begins each time with the workspace as it was, so what it learns is outside of it."""
    run = new_id()
    gate = home.fifo(run, "gate")
    home.define("""
name: helps
steps:
  - {name: work, tool: shell, inputs: {command: "read -r code < gate; exit $code"}, retry: {max_retries: 3, base_delay: 0}}
outputs: {code: {from: "${steps.work.outputs.exit_code}"}}
""")
    gate.send("1\n")
    assert server.start("helps", run_id=run).status == 202
    wait_until(lambda: server.types(run).count("tool.requested") == 2)
    gate.send("0\n")
    result = server.finish(run)
    assert (result["status"], result["outputs"]) == ("success", {"code": 0})
    assert server.steps(run)["work"]["attempts"] == 2


def test_a_retry_survives_a_kill(home):
    server = home.serve()
    run = new_id()
    gate = home.fifo(run, "gate")
    home.define("""
name: later
steps:
  - {name: work, tool: shell, inputs: {command: "read -r code < gate; exit $code"}, retry: {max_retries: 1, base_delay: 0.5}}
""")
    gate.send("1\n")
    assert server.start("later", run_id=run).status == 202
    server.until(run, "tool.finished")
    server.kill()
    gate.take_back()
    server = home.serve()
    gate.send("0\n")
    assert server.finish(run)["status"] == "success"


def test_timeout_of_a_step(home, server):
    result = run_of(home, server, """
name: slow
steps:
  - {name: work, tool: shell, timeout: 0.2, inputs: {command: "sleep 1000; :"}}
""")
    assert result["status"] == "failed" and "timeout" in result["error"]
    assert [data["fault"]["code"] for data in events_of(server, result["run_id"], "tool.finished")] == ["timeout"]


def test_timeout_of_a_run(home, server):
    result = run_of(home, server, """
name: patience
timeout: 0.2
steps:
  - {name: ask, human: {question: "Anybody?"}}
  - {name: after, tool: echo, depends_on: [ask]}
""")
    run = result["run_id"]
    assert (result["status"], result["metadata"]["state"]) == ("failed", "failed") and "timeout" in result["error"]
    assert states(server, run) == {"ask": "cancelled", "after": "cancelled"}
    assert server.inbox() == []


def test_a_wait_for_a_signal_that_does_not_come(home, server):
    result = run_of(home, server, """
name: silence
steps:
  - {name: hold, wait: {signal: word, timeout: 0.1}}
  - {name: after, tool: echo, depends_on: [hold]}
""")
    assert result["status"] == "failed" and "timeout" in result["error"]
    assert states(server, result["run_id"]) == {"hold": "failed", "after": "skipped"}


@pytest.mark.parametrize("words, fix", [
    ("wait: {signal: word}", "wait: {signal: NAME, timeout: SECONDS}"),
    ("wait: {seconds: 1}", "leave the timeout out"),
    ("human: {question: 'Well?'}", "human: {question: TEXT, timeout: SECONDS}")])
def test_a_timeout_beside_a_wait_says_where_it_belongs(home, server, words, fix):
    answer = server.start(home.define(f"name: beside\nsteps:\n  - name: hold\n    {words}\n    timeout: 5\n"))
    assert (answer.status, answer.body["code"]) == (422, "invalid"), answer
    (problem,) = answer.body["details"]
    assert (problem["pointer"], problem["line"]) == ("/steps/0/timeout", 5)
    assert fix in problem["text"]


# ---- verify and gate -----------------------------------------------------------------------------


VERIFIED = """
name: verified
inputs: {wanted: {type: string}}
steps:
  - {name: draft, tool: echo, inputs: {text: bad}}
  - name: check
    depends_on: [draft]
    verify:
      target: draft
      criteria: [{name: right, check: "output.text == inputs.wanted"}]
      policy: {max_correction_attempts: 2}
      steps:
        - {name: fix, tool: echo, inputs: {text: good}}
outputs: {all: {from: "${steps.check.outputs}", optional: true}}
"""


@pytest.mark.parametrize("wanted, status, rounds", [("bad", "passed", 1), ("good", "corrected", 2), ("best", "uncorrectable", 3)])
def test_verify_with_correction(home, server, wanted, status, rounds):
    result = run_of(home, server, VERIFIED, {"wanted": wanted})
    run = result["run_id"]
    assert result["status"] == ("failed" if status == "uncorrectable" else "success"), result
    shown = states(server, run)
    assert len([path for path in shown if path.startswith("check") and "/" not in path]) == rounds, shown
    last = server.result(run)["steps"]
    output = [step["output"] for step in last if step["step_id"].startswith("check") and "/" not in step["step_id"]][-1]
    assert output["status"] == status
    assert len(output["corrections"]) == rounds - 1
    if status == "uncorrectable":
        assert "unverified" in result["error"]


def test_a_critical_criterion_halts_the_run(home, server):
    result = run_of(home, server, VERIFIED.replace('inputs.wanted"}', 'inputs.wanted", critical: true}').replace(
        "max_correction_attempts: 2", "halt_on_critical: true") + "  # critical\n", {"wanted": "best"})
    assert result["status"] == "failed" and "unverified" in result["error"]


@pytest.mark.parametrize("codes, threshold, required, status", [
    ((0, 0, 0), 1, "[]", "passed"), ((0, 1, 0), 0.6, "[]", "passed"), ((0, 1, 0), 1, "[]", "partial"),
    ((0, 1, 0), 0.5, "[b]", "failed"), ((1, 1, 1), 0.5, "[]", "failed")])
def test_gate(home, server, codes, threshold, required, status):
    tests = "".join(f"\n        - {{name: {name}, tool: shell, inputs: {{command: 'exit {code}'}}}}"
                    for name, code in zip("abc", codes))
    result = run_of(home, server, f"""
name: gates
steps:
  - name: tests
    gate:
      threshold: {threshold}
      required: {required}
      steps:{tests}
  - {{name: after, tool: echo, depends_on: [tests]}}
""")
    run = result["run_id"]
    output = next(step["output"] for step in result["steps"] if step["step_id"] == "tests")
    assert output == {"status": status, "passed": codes.count(0), "tests": 3}
    assert result["status"] == ("success" if status == "passed" else "failed")
    assert states(server, run)["after"] == ("succeeded" if status == "passed" else "skipped")


# ---- workflows in workflows ----------------------------------------------------------------------


CHILD = """
name: child
inputs: {who: {type: string}}
steps:
  - {name: ask, human: {question: "Greet ${inputs.who}?"}}
  - {name: say, tool: echo, depends_on: [ask], inputs: {text: "hello, ${inputs.who}"}}
outputs: {text: {from: "${steps.say.outputs.text}"}}
"""
PARENT = """
name: parent
steps:
  - {name: sub, workflow: child, inputs: {who: ann}}
  - {name: after, tool: echo, depends_on: [sub], inputs: {said: "${steps.sub.outputs.text}"}}
outputs: {said: {from: "${steps.after.outputs.said}"}}
"""


def parent(home, server):
    home.define(CHILD)
    home.define(PARENT)
    run = server.run_of("parent")
    child = server.until(run, "subrun.requested")["data"]["effect"]
    wait_until(lambda: len(server.inbox()) == 1)
    assert server.inbox()[0]["run_id"] == child
    return run, child


def test_a_workflow_within_a_workflow(home, server):
    run, child = parent(home, server)
    assert {row["run_id"] for row in server.get("/api/runs").body} == {run, child}
    assert server.steps(run)["sub"]["subrun"] == child
    assert f"part of    {run}" in home.cli("show", child)[1] and f"run {child}" in home.cli("show", run)[1]
    assert server.tell(child, "approve").status == 200
    assert server.finish(run)["outputs"] == {"said": "hello, ann"}
    assert server.result(child)["status"] == "success"


def test_cancel_goes_through_to_it(home, server):
    run, child = parent(home, server)
    assert server.tell(run, "cancel").status == 200
    assert server.finish(run)["metadata"]["state"] == "cancelled"
    assert server.finish(child)["metadata"]["state"] == "cancelled"
    assert server.inbox() == []


def test_what_became_of_it_is_what_became_of_the_step(home, server):
    run, child = parent(home, server)
    assert server.tell(child, "reject").status == 200
    result = server.finish(run)
    assert result["status"] == "failed" and states(server, run) == {"sub": "failed", "after": "skipped"}


def test_a_kill_in_the_middle_of_it(home):
    server = home.serve()
    run, child = parent(home, server)
    server.kill()
    server = home.serve()
    assert server.tell(child, "approve").status == 200
    server.kill()
    server = home.serve()
    assert server.finish(run)["outputs"] == {"said": "hello, ann"}
    assert len(server.get("/api/runs").body) == 2
    assert server.types(run).count("subrun.requested") == 1 and server.types(run).count("subrun.finished") == 1
    assert server.types(child).count("run.created") == 1


@pytest.mark.parametrize("point", [None, "subrun.before_stop"])
def test_a_cancel_reaches_it_over_a_kill(home, point):
    """Killed behind the answer, or when the cancel is committed and the child knows nothing of it."""
    server = home.serve(**({"BATON_POINTS": f"{point}=kill"} if point else {}))
    run, child = parent(home, server)
    try:
        assert server.tell(run, "cancel").status == 200
    except Gone:
        assert point
    if point:
        assert killed(server)
    else:
        server.kill()
    server = home.serve()
    assert server.finish(run)["metadata"]["state"] == "cancelled"
    assert server.finish(child)["metadata"]["state"] == "cancelled"
    assert server.inbox() == []


# ---- all of it at once ---------------------------------------------------------------------------


def test_a_nested_run_goes_on_after_a_kill(home):
    """A question in a parallel step in each round of a loop in each item of a map, with a kill between answers."""
    server = home.serve()
    home.define("""
name: nested
steps:
  - name: each
    map:
      over: [1, 2]
      steps:
        - name: rounds
          loop:
            until: "false"
            max: 2
            on_limit: continue
            steps:
              - name: both
                parallel:
                  steps:
                    - {name: ask, human: {question: "${item}?"}}
                    - {name: note, tool: echo, inputs: {n: "${item}"}}
outputs: {n: {from: "${steps.each.outputs}"}}
""")
    run = server.run_of("nested")
    for answers in range(4):
        wait_until(lambda: len(server.inbox()) == (2 if answers < 2 else 1))
        server.kill()
        server = home.serve()
        first = min(server.inbox(), key=lambda item: item["step"])
        assert server.respond(first["id"], revision=first["revision"]).status == 200
    result = server.finish(run)
    assert result["status"] == "success", result
    assert len(result["outputs"]["n"]) == 2
    assert len(events_of(server, run, "human.requested")) == len(events_of(server, run, "human.finished")) == 4
    assert {path for path in states(server, run) if path.endswith("/ask")} == {
        f"each[{item}]/rounds{round}/both/ask" for item in (0, 1) for round in ("", "#2")}


def test_a_run_that_works_for_long_leaves_behind_what_it_needs_no_more(home):
    """Its state is copied whenever it has doubled, here from the first byte on; the run goes on as if nothing had been."""
    home.define("""
name: long
outputs: {n: {from: "${steps.count.outputs.n}"}, seen: {from: "${steps.keep.outputs.seen}"}}
steps:
  - {name: keep, tool: echo, inputs: {seen: first}}
  - name: count
    depends_on: [keep]
    tool: echo
    inputs: {n: "${coalesce(steps.count.outputs.n, 0) + 1}", padding: "%s"}
    loop_until: "${steps.count.outputs.n} >= 60"
    loop_max: 100
""" % ("x" * 200))
    results = []
    for points in ("", "live.renew=limit@1"):
        server = home.serve(**({"BATON_POINTS": points} if points else {}))
        result = server.start("long", wait=True).body
        assert result["status"] == "success", result
        events = [(event["seq"], event["type"], event["data"].get("step")) for event in server.events(result["run_id"])]
        results.append((result["outputs"], events))
        server.kill()
    assert results[0] == results[1] and results[0][0] == {"n": 60, "seen": "first"}


def test_a_map_enters_a_hundred_items_at_a_time(home, server):
    """Without at_once.  Each item that ends makes room for one more."""
    home.define("name: many\ninputs: {xs: {type: array}}\nsteps:\n"
                "  - {name: all, map: {over: \"${inputs.xs}\", steps: [{name: ask, human: {question: well?}}]}}\n")
    run = server.run_of("many", {"xs": list(range(102))})
    wait_until(lambda: server.types(run).count("human.requested") == 100)
    items = [f"all[{n}]/ask" for n in range(102)]
    assert [path for path in server.steps(run) if path != "all"] == items[:100]
    questions = [data["effect"] for data in events_of(server, run, "human.requested")]
    for done in (1, 2):
        assert server.respond(questions[done]).status == 200
        wait_until(lambda: server.types(run).count("human.requested") == 100 + done)
        assert [path for path in items[100:] if path in server.steps(run)] == items[100:100 + done]
    server.tell(run, "cancel")


def test_a_map_over_the_limit_of_steps_fails(home, server):
    """10,000 items of 11 steps each would be 110,000 steps; not one of them is created."""
    steps = ", ".join(f"{{name: s{i}, tool: echo}}" for i in range(11))
    home.define("name: wide\ninputs: {xs: {type: array}}\nsteps:\n"
                f"  - {{name: all, map: {{over: \"${{inputs.xs}}\", steps: [{steps}]}}}}\n")
    run = server.run_of("wide", {"xs": [0] * 10000})
    assert server.finish(run)["status"] == "failed"
    step = server.steps(run)["all"]
    assert step["failure"]["code"] == "limit_reached" and "more than 100000 steps" in step["error"]
    assert list(server.steps(run)) == ["all"]
