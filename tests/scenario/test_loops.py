"""Rounds: what happens when they are used up, and how many there may be."""
import json
import pathlib

import pytest

LOOP = """
name: grow
steps:
  - name: grow
    loop:
      until: "steps.count.outputs.stdout == '3\\n'"
      max: 2%s
      steps:
        - {name: count, tool: shell, inputs: {command: "echo x >> rounds; wc -l < rounds"}}
  - {name: after, depends_on: [grow], tool: echo, inputs: {n: "${steps.grow.outputs.stdout}"}}
outputs: {n: {from: "${steps.after.outputs.n}", optional: true}}
"""


def finish(home, server, definition, inputs=None):
    return server.finish(server.run_of(home.define(definition), inputs))


def test_a_loop_at_its_limit_fails_and_a_retry_begins_it_anew(home, server):
    result = finish(home, server, LOOP % "")
    run = result["run_id"]
    assert result["status"] == "failed"
    assert "the condition does not hold after 2 rounds: steps.count.outputs.stdout == '3\n'; raise loop: max" in result["error"]
    steps = server.steps(run)
    assert steps["grow#2"]["state"] == "failed" and steps["grow#2"]["failure"]["code"] == "limit_reached"
    assert steps["after"]["state"] == "skipped"
    assert home.cli("retry", run)[0] == 0
    assert server.finish(run)["outputs"] == {"n": "3\n"}


def test_a_loop_may_continue_at_its_limit(home, server):
    result = finish(home, server, LOOP % "\n      on_limit: continue")
    assert result["outputs"] == {"n": "2\n"}, result
    steps = server.steps(result["run_id"])
    assert {path for path, step in steps.items() if step.get("limit_reached")} == {"grow#2"}
    code, out, err = home.cli("show", result["run_id"], "--json")
    assert code == 0, err
    assert [step["step"] for step in json.loads(out)["steps"] if step.get("limit_reached")] == ["grow#2"]


STEP = """
name: again
inputs: {given: {type: object, default: {}}}
steps:
  - {name: try, tool: shell, inputs: {command: "echo x >> tries; wc -l < tries"}, loop_until: "output.stdout == 'never'", loop_max: %s}
outputs: {n: {from: "${steps.try.outputs.stdout}", optional: true}}
"""


@pytest.mark.parametrize("compacted", [False, True])
def test_the_last_result_of_a_step_stands(home, server, compacted):
    result = finish(home, server, STEP % 2)
    assert result["outputs"] == {"n": "2\n"}, result
    if compacted:
        assert json.loads(home.cli("db", "compact", "--now", "--json")[1])["compacted"] == 1
    assert server.steps(result["run_id"])["try#2"]["limit_reached"] is True


@pytest.mark.parametrize("most", ["2.5", "0", "-1", "true", "null", "[1]"])
def test_rounds_that_cannot_be(home, most):
    for text, name in [(STEP % most, "loop_max"), ((LOOP % "").replace("max: 2", "max: " + most), "loop: max")]:
        file = pathlib.Path(home.path, "rounds.yaml")
        file.write_text(text)
        code, out, err = home.cli("check", str(file))
        assert code != 0
        assert f"{name} must be a whole number from 1 on, or ${{…}}, not {most}" in out + err, out + err


@pytest.mark.parametrize("most", [2.5, 0, "many", None])
def test_rounds_that_are_computed_wrongly(home, server, most):
    result = finish(home, server, STEP % '"${inputs.given.most}"', {"given": {"most": most}})
    assert result["status"] == "failed"
    assert f"loop_max is {json.dumps(most)}, and must be a whole number from 1 on; correct the value that ${{inputs.given.most}} refers to" \
        in result["error"]
    assert list(server.steps(result["run_id"])) == ["try"]


@pytest.mark.parametrize("most", [2.5, 0, "many", None])
def test_a_loop_whose_rounds_are_computed_wrongly_does_not_begin(home, server, most):
    text = (LOOP % "").replace("max: 2", 'max: "${inputs.given.most}"').replace("steps:", "inputs: {given: {type: object}}\nsteps:", 1)
    result = finish(home, server, text, {"given": {"most": most}})
    assert result["status"] == "failed"
    assert f"loop: max is {json.dumps(most)}, and must be a whole number from 1 on" in result["error"]
    assert "tool.requested" not in server.types(result["run_id"]) and "step.entered" not in server.types(result["run_id"])
