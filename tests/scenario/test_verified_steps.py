"""`verify` on a step: expressions, schemas, commands and judges check its output, and the step is repeated until they hold."""
import contextlib
import pathlib

import pytest
from baton import Gone, killed, new_id


def ended(home, server, definition, inputs=None):
    return server.finish(server.run_of(home.define(definition), inputs))


def finished(server, run, step):
    """How often a step inside the verification has ended."""
    return sum(event["type"] in ("tool.finished", "turn.finished") and event["data"]["step"].split("/")[-1].split("#")[0] == step
               for event in server.events(run))


def check(home, text):
    pathlib.Path(home.path, "w.yaml").write_text(text)
    return home.cli("check", "w.yaml")


COUNTING = """
name: w
steps:
  - name: change
    tool: shell
    inputs:
      command: 'echo x >> tries; echo "$WHY" > why'
      env: {WHY: "${coalesce(steps.change.outputs.verification.issues[0].reason, 'first')}"}
    verify:
      policy: {max_correction_attempts: %d}
      criteria:
        - {name: enough tries, command: 'n=$(wc -l < tries); echo "$n of 3"; test $n -ge 3'}
        - {name: quiet, check: "output.stdout == ''"}
  - {name: look, tool: shell, depends_on: [change], inputs: {command: cat why}}
outputs:
  verification: {from: "${steps.change.outputs.verification}"}
  code: {from: "${steps.change.outputs.exit_code}"}
  why: {from: "${steps.look.outputs.stdout}"}
"""


def test_a_command_fails_twice_and_then_passes(home, server):
    """The step reads why it is repeated; its output is its own, with the result of the verification."""
    run = ended(home, server, COUNTING % 3)
    result = run["outputs"]["verification"]
    assert run["status"] == "success" and result["status"] == "corrected", run
    assert result["criteria_results"] == {"enough tries": True, "quiet": True} and result["issues"] == []
    assert [one["issues_remaining"] for one in result["corrections"]] == [["enough tries"], []]
    assert [one["outcome"] for one in result["corrections"]] == ["failed", "success"]
    assert run["outputs"]["code"] == 0 and run["outputs"]["why"] == "exit status 1: 2 of 3\n\n"
    assert finished(server, run["run_id"], "change_attempt") == 3


def test_attempts_are_used_up(home, server):
    run = ended(home, server, COUNTING % 1)
    assert run["status"] == "failed" and "1 of 2 criteria hold: enough tries: exit status 1: 2 of 3" in str(run), run
    assert finished(server, run["run_id"], "change_attempt") == 2
    assert finished(server, run["run_id"], "look") == 0


STUCK = """
name: w
steps:
  - name: change
    tool: shell
    inputs: {command: 'echo x >> tries; cat tries'}
    continue_on_error: true
    verify:
      policy: {max_correction_attempts: 9}
      criteria: [%s]
outputs:
  verification: {from: "${steps.change.outputs.verification}"}
"""


def test_the_same_failures_twice_in_a_row_end_it(home, server):
    run = ended(home, server, STUCK % "{name: never, command: 'echo broken; exit 7'}")
    result = run["outputs"]["verification"]
    assert result["status"] == "uncorrectable" and "twice in a row" in result["error"], result
    assert result["issues"] == [{"criterion": "never", "reason": "exit status 7: broken\n"}]
    assert finished(server, run["run_id"], "change_attempt") == 2


def test_an_expression_has_no_reason_so_that_the_output_must_be_the_same_too(home, server):
    run = ended(home, server, STUCK % "{name: long, check: 'len(output.stdout) >= 8'}")
    assert run["outputs"]["verification"]["status"] == "corrected"
    assert finished(server, run["run_id"], "change_attempt") == 4


def test_a_command_that_takes_too_long_does_not_hold(home, server):
    run = ended(home, server, STUCK % "{name: slow, command: 'sleep 600', timeout_seconds: 0.2}")
    (issue,) = run["outputs"]["verification"]["issues"]
    assert issue == {"criterion": "slow", "reason": "timed out after 0.2 seconds"}


def test_a_long_reason_keeps_its_end(home, server):
    run = ended(home, server, STUCK % "{name: loud, command: 'seq 100000 | head -c 60000; echo THE END; exit 1'}")
    (issue,) = run["outputs"]["verification"]["issues"]
    assert issue["reason"].endswith("THE END\n") and len(issue["reason"]) < 5000


SCHEMA = """
name: w
agents:
  ada:
    driver: script
    options:
      replies:
        - {contains: "/json/items/0/price", json: {items: [{name: tea, price: 3}]}}
        - {json: {items: [{name: tea, price: cheap}]}}
steps:
  - name: list
    agent: ada
    inputs: {prompt: List the goods.}
    verify:
      criteria:
        - name: shape
          schema:
            type: object
            properties: {json: {type: object, properties: {items: {items: {properties: {price: {type: number}}}}}}}
outputs:
  price: {from: "${steps.list.outputs.json.items[0].price}"}
  status: {from: "${steps.list.outputs.verification.status}"}
"""


def test_a_schema_names_the_place_and_the_agent_corrects_it(home, server):
    run = ended(home, server, SCHEMA)
    assert run["outputs"] == {"price": 3, "status": "corrected"}, run


DAY = """
name: w
agents:
  ada: {driver: script, options: {replies: [{round: 2, json: {day: "2026-11-18"}}, {json: {day: tomorrow}}]}}
steps:
  - name: plan
    agent: ada
    verify:
      criteria:
        - name: shape
          schema: {type: object, properties: {json: {type: object, properties: {day: {format: date}}}}}
          %s
outputs:
  day: {from: "${steps.plan.outputs.json.day}"}
  status: {from: "${steps.plan.outputs.verification.status}"}
"""


@pytest.mark.parametrize("more, outputs", [("format_assertion: false", {"day": "tomorrow", "status": "passed"}),
                                           ("format_assertion: true", {"day": "2026-11-18", "status": "corrected"})])
def test_a_criterion_checks_formats_on_request(home, server, more, outputs):
    assert ended(home, server, DAY % more)["outputs"] == outputs


JUDGED = """
name: w
agents:
  ada:
    driver: script
    options:
      replies: [{contains: "the tone is rude", text: Could you please come?}, {text: Come.}]
  critic:
    driver: script
    options:
      replies: [{contains: "please", json: {passed: true, reason: it is kind}}, {json: {passed: false, reason: the tone is rude}}]
steps:
  - name: letter
    agent: ada
    %s
    verify:
      criteria:
        - {name: kind, judge: critic, question: Is the letter kind?}
outputs:
  text: {from: "${steps.letter.outputs.text}"}
  verification: {from: "${steps.letter.outputs.verification}"}
"""
TEMPLATE = "prompt_template: 'Write.{% for issue in (verification or {}).issues or [] %} Not good: {{ issue.reason }}{% endfor %}'"


@pytest.mark.parametrize("prompt", ["inputs: {prompt: Write.}", TEMPLATE, "inputs: {task: write}"], ids=["prompt", "template", "data"])
def test_a_judge_is_asked_and_the_agent_reads_the_reason(home, server, prompt):
    run = ended(home, server, JUDGED % prompt)
    assert run["status"] == "success" and run["outputs"]["text"] == "Could you please come?", run
    assert run["outputs"]["verification"]["status"] == "corrected"
    judged = [one["data"] for one in server.events(run["run_id"]) if one["type"] == "step.left" and "letter_judge_kind" in one["data"]["step"]]
    assert len(judged) == 2


def test_a_step_inside_a_map_is_verified_for_itself(home, server):
    run = ended(home, server, """
name: w
steps:
  - name: each
    map:
      over: [1, 5]
      as: n
      steps:
        - name: grow
          tool: echo
          inputs: {n: "${coalesce(steps.grow.outputs.n, n) + 2}"}
          verify: {criteria: [{name: large, check: "output.n > 6"}]}
outputs: {all: {from: "${steps.each.outputs}"}}
""")
    assert [(one["n"], one["verification"]["status"]) for one in run["outputs"]["all"]] == [(7, "corrected"), (7, "passed")]


def test_a_failure_of_the_step_itself_is_no_matter_of_its_criteria(home, server):
    run = ended(home, server, STUCK.replace("echo x >> tries; cat tries", "echo lost >&2; exit 3") % "{name: any, check: 'true'}")
    assert run["outputs"].get("verification") is None
    steps = server.get(f"/api/runs/{run['run_id']}/steps").body
    assert "exit status 3: lost" in str(steps)


@pytest.mark.parametrize("criterion, says", [
    ("{name: a}", "exactly one of check, command, schema and judge"),
    ("{name: a, check: 'true', command: 'true'}", "exactly one of check, command, schema and judge"),
    ("{name: a, judge: ada}", "the judge needs a question"),
    ("{name: a, judge: eve, question: Good?}", "agent eve does not exist"),
    ("{name: a, command: 'true', question: Good?}", "a question needs judge"),
    ("{name: a, check: 'true', timeout_seconds: 3}", "only a command has timeout_seconds"),
    ("{name: a, schema: {type: 7}}", "is not a JSON Schema"),
    ("{name: a, check: 'steps.nowhere.outputs.x'}", "unknown step nowhere"),
    ("{name: a, check: 'true'}, {name: a, check: 'false'}", "duplicate criterion name a"),
])
def test_wrong_criteria_are_problems_of_the_definition(home, criterion, says):
    status, out, narration = check(home, f"name: w\nsteps:\n  - name: s\n    tool: noop\n    verify:\n      criteria: [{criterion}]\n")
    assert status != 0 and says in out + narration, out + narration
    assert "w.yaml:" in out + narration


def test_a_command_needs_a_step_that_is_repeated(home):
    status, out, narration = check(home, "name: w\nsteps:\n  - {name: s, tool: noop}\n  - name: v\n    depends_on: [s]\n"
                                   "    verify: {target: s, criteria: [{name: a, command: 'true'}]}\n")
    assert status != 0 and "without target" in out + narration, out + narration


@pytest.mark.parametrize("passing", [3, 5, 7, 9])
def test_killed_during_a_correction(home, passing):
    """The rounds go on where they were: what the attempts left behind, and the reasons they read, are the same."""
    server = home.serve(BATON_POINTS=f"store.after_commit=kill@{passing}")
    run = new_id()
    with contextlib.suppress(Gone):
        server.start(home.define(COUNTING % 3), run_id=run)
    assert killed(server)
    result = home.serve().finish(run)
    assert result["status"] == "success" and result["outputs"]["why"] == "exit status 1: 2 of 3\n\n"
    corrections = result["outputs"]["verification"]["corrections"]
    assert [one["issues_remaining"] for one in corrections] == [["enough tries"], []]
