"""Lenient rules: every use is recorded with the step and shown wherever the run is."""
import json
import pathlib

from baton import wait_until

LENIENT = """
name: lenient
inputs: {word: {type: string, default: many}}
steps:
  - {name: a, tool: echo, inputs: {n: 1}}
  - {name: b, tool: shell, depends_on: [a], when: "steps.a.outputs.n > 'x'", inputs: {command: "true"}}
  - {name: c, tool: shell, depends_on: [b], inputs: {command: "echo '${steps.b.outputs.stdout}'"}}
  - {name: d, tool: echo, depends_on: [a], inputs: {sum: "${steps.a.outputs.n + inputs.word}", safe: "${coalesce(steps.a.outputs.m, 2)}"}}
  - {name: e, tool: shell, depends_on: [d], loop_until: "false", loop_max: 1, inputs: {command: "true"}}
outputs: {m: {from: {inner: "${steps.d.outputs.m}"}}, k: {from: "${steps.d.outputs.k}", optional: true}}
"""

EXPECTED = [
    ("condition", "b", "the condition steps.a.outputs.n > 'x' cannot be evaluated: only two numbers or two strings can be ordered; it counts as "
     "false; correct it, or test the values it reads first"),
    ("missing", "c", "steps.b.outputs is missing and was read as null; correct the name, or give a default: coalesce(steps.b.outputs, …)"),
    ("expression", "d", "${steps.a.outputs.n + inputs.word} cannot be evaluated: + needs two numbers, two strings or two lists; it was read as "
     "null; correct the expression or the values it reads"),
    ("limit_reached", "e", "the condition does not hold after 1 rounds: false; the last result stands; raise loop_max"),
    ("missing", None, "steps.d.outputs.m is missing and was read as null; correct the name, or give a default: coalesce(steps.d.outputs.m, …)"),
]


def finish(home, server, definition, inputs=None):
    return server.finish(server.run_of(home.define(definition), inputs))


def rows(document):
    return sorted(((row["code"], row.get("step"), row["text"]) for row in document.get("warnings", [])), key=str)


def outline(server, run):
    return server.get(f"/api/runs/{run}/steps").body


def test_every_lenient_rule_is_recorded_and_shown(home, server):
    result = finish(home, server, LENIENT)
    assert result["status"] == "success"
    assert rows(result) == sorted(EXPECTED, key=str)
    run = result["run_id"]
    shown = outline(server, run)
    assert rows(shown) == sorted(EXPECTED, key=str) and "warnings_dropped" not in shown
    assert {step["step"]: [row["code"] for row in step["warnings"]] for step in shown["steps"] if "warnings" in step} == {
        "b": ["condition"], "c": ["missing"], "d": ["expression"], "e": ["limit_reached"]}
    for words in (["show", run], ["run", "lenient"]):
        code, out, err = home.cli(*words)
        assert code == 0, err
        for _, step, text in EXPECTED:
            assert f"warning: {'outputs' if step is None else 'step ' + step}: {text}\n" in err, err
            assert text not in out


def test_a_warning_is_in_the_event_of_the_decision_and_costs_none(home, server):
    run = finish(home, server, LENIENT)["run_id"]
    events = server.events(run)
    told = {event["type"]: event["data"]["warnings"][0]["code"] for event in events if "warnings" in event["data"]}
    assert told["step.skipped"] == "condition" and told["run.finished"] == "missing"
    assert told["step.computed"] == "expression" and told["tool.requested"] == "missing"
    clean = finish(home, server, LENIENT.replace("lenient", "clean").replace("> 'x'", "> 3").replace("loop_until: \"false\"", "loop_until: \"true\""))
    assert len(server.events(clean["run_id"])) == len(events)


def test_warnings_survive_a_kill_and_a_compaction(home):
    server = home.serve()
    run = finish(home, server, LENIENT)["run_id"]
    server.kill()
    server = home.serve()
    assert rows(outline(server, run)) == sorted(EXPECTED, key=str)
    assert json.loads(home.cli("db", "compact", "--now", "--json")[1])["compacted"] == 1
    shown = outline(server, run)
    assert rows(shown) == sorted(EXPECTED, key=str)
    assert {step["step"] for step in shown["steps"] if "warnings" in step} == {"b", "c", "d", "e"}
    assert rows(server.get(f"/api/runs/{run}").body) == sorted(EXPECTED, key=str)


def test_warnings_are_limited_per_step_and_per_run(home, server):
    many = ", ".join(f"k{n}: \"${{ctx.x{n}}}\"" for n in range(12))
    sets = ", ".join(f"x{n}: x{n}" for n in range(12))
    result = finish(home, server, f"""
name: many
inputs: {{list: {{type: array}}}}
steps:
  - name: each
    map:
      over: "${{inputs.list}}"
      steps:
        - {{name: say, tool: echo, inputs: {{{many}}}}}
  - {{name: set, depends_on: [each], tool: echo, outputs: {{{sets}}}}}
""", {"list": list(range(11))})
    steps = [row["step"] for row in result["warnings"]]
    assert len(steps) == 100 and all(steps.count(step) <= 10 for step in steps)
    assert result["warnings_dropped"] == 11 * 12 - 100


def test_every_warning_of_a_large_step_is_counted(home, server):
    """More than a run keeps, all in one evaluation."""
    many = ", ".join(f"k{n}: \"${{inputs.a.m{n}}}\"" for n in range(300))
    result = finish(home, server, f"name: large\ninputs: {{a: {{type: object}}}}\nsteps:\n"
                                  f"  - {{name: say, tool: echo, inputs: {{{many}}}}}\n", {"a": {}})
    assert len(result["warnings"]) == 10 and result["warnings_dropped"] == 290


def test_a_retry_forgets_the_warnings_of_the_outputs(home, server):
    """They were rendered when the run failed, and are rendered anew."""
    home.define("name: later\nsteps:\n  - {name: a, tool: shell, inputs: {command: 'test -e go'}}\n"
                "  - {name: b, tool: echo, depends_on: [a], inputs: {x: 1}}\n"
                "outputs: {o: {from: '${steps.b.outputs.x}'}}\n")
    run = server.start("later", wait=True).body["run_id"]
    [warning] = server.result(run)["warnings"]
    assert "step" not in warning and "steps.b.outputs" in warning["text"]
    home.workspace(run, "go").write_text("")
    assert server.tell(run, "retry").status == 200
    wait_until(lambda: server.result(run)["status"] == "success")
    result = server.result(run)
    assert result["outputs"] == {"o": 1} and "warnings" not in result
    assert home.cli("db", "compact", "--days", "0")[0] == 0
    assert "warnings" not in server.result(run)


def test_a_clean_run_has_no_warnings(home, server):
    result = finish(home, server, pathlib.Path("docs/workflows.md").read_text().split("```yaml\n")[1].split("```")[0])
    assert "warnings" not in result and "warnings_dropped" not in result
