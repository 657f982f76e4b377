"""The rules of workflows with steps that other files do not show from outside: YAML, expressions, order, failures, rounds, outputs."""


def result_of(home, server, text, inputs=None):
    run = server.run_of(home.define(text), inputs)
    return server.finish(run), run


def states(server, run):
    return {step["step"]: step["state"] for step in server.get(f"/api/runs/{run}/steps").body["steps"]}


def test_the_yaml_of_a_file(home, server):
    """Anchors, aliases and merge keys, folded and literal texts, quoted strings, comments, flow and block style."""
    result, _ = result_of(home, server, """name: styles
version: 1.2   # a comment
_templates:
  base: &base
    tool: echo
    inputs: &inputs {plain: a b, 'single': 'it''s', "double": "tab\\tend"}
steps:
  - <<: *base
    name: one
  - name: two
    <<: *base
    inputs:
      <<: *inputs
      plain: other
      folded: >-
        two
        lines
      literal: |
        two
        lines
      list:
        - 1
        - [2, 3]
outputs:
  one: {from: "${steps.one.outputs}"}
  two: {from: "${steps.two.outputs}"}
""")
    assert result["outputs"]["one"] == {"plain": "a b", "single": "it's", "double": "tab\tend"}
    assert result["outputs"]["two"] == {"plain": "other", "single": "it's", "double": "tab\tend", "folded": "two lines", "literal": "two\nlines\n",
                                        "list": [1, [2, 3]]}


def test_expressions_as_conditions(home, server):
    """Hybrid texts, null-safe paths, and what cannot be evaluated: true with != and `not in`, otherwise false."""
    conditions = {
        "hybrid": ("${inputs.mode} != 'quick' and not ${inputs.flag}", True), "missing": ("steps.first.outputs.nothing.at.all == None", True),
        "falsy": ("steps.first.outputs.nothing", False), "fails": ("inputs.mode < 3", False), "fails_unequal": ("inputs.mode < 3 or 1 != 1", True),
        "fails_not_in": ("1 not in 5", True), "fails_in": ("1 in 5", False), "coalesce": ("coalesce(steps.first.outputs.nothing, 'x') == 'x'", True),
        "status": ("steps.first.status == 'success' and steps.first.error is None", True),
        "no_attributes": ("inputs.mode.__class__", False), "arithmetic": ("(7 - 1) * 2 % 5 == 2 and 12 / 4 == 3", True), "membership": ("'low' in inputs.mode", True),
    }
    steps = "".join(f"  - {{name: {name}, tool: echo, depends_on: [first], when: \"{text}\"}}\n" for name, (text, _) in conditions.items())
    _, run = result_of(home, server, f"""name: conditions
inputs: {{mode: {{default: slow}}, flag: {{type: boolean, default: false}}}}
steps:
  - {{name: first, tool: echo, inputs: {{x: 1}}}}
{steps}""")
    found = states(server, run)
    assert {name: found[name] == "succeeded" for name in conditions} == {name: holds for name, (_, holds) in conditions.items()}


def test_a_step_starts_when_its_own_dependencies_are_done(home, server):
    """There are no layers: `late` starts while a step of the first layer still waits."""
    run = server.run_of(home.define("""name: eager
steps:
  - {name: slow, wait: {signal: go}}
  - {name: quick, tool: echo}
  - {name: late, tool: shell, depends_on: [quick], inputs: {command: "true"}}
  - {name: last, tool: echo, depends_on: [slow, late]}
"""))
    server.until(run, "tool.finished")
    found = states(server, run)
    assert found["quick"] == found["late"] == "succeeded" and found["slow"] != "succeeded" and found["last"] == "pending"
    assert home.cli("signal", run, "go")[0] == 0
    assert server.finish(run)["status"] == "success"


def test_a_failure_skips_everything_behind_it_and_the_rest_runs(home, server):
    result, run = result_of(home, server, """name: cascade
steps:
  - {name: bad, tool: shell, inputs: {command: "exit 3"}}
  - {name: behind, tool: echo, depends_on: [bad]}
  - {name: far, tool: echo, depends_on: [behind]}
  - {name: beside, tool: echo}
  - {name: joined, tool: echo, depends_on: [beside, far]}
""")
    assert result["status"] == "failed"
    assert states(server, run) == {"bad": "failed", "behind": "skipped", "far": "skipped", "beside": "succeeded", "joined": "skipped"}
    reasons = {step["step"]: step.get("error", "") for step in server.get(f"/api/runs/{run}/steps").body["steps"]}
    assert reasons["behind"].startswith("dependency failed: bad") and reasons["far"].startswith("dependency failed")


def test_a_step_skipped_by_its_condition_is_done_and_reads_as_null(home, server):
    result, _ = result_of(home, server, """name: nulls
steps:
  - {name: skipped, tool: echo, when: "1 == 2", inputs: {x: 1}}
  - {name: reads, tool: echo, depends_on: [skipped], inputs: {x: "${steps.skipped.outputs.x}", status: "${steps.skipped.status}"}}
outputs:
  reads: {from: "${steps.reads.outputs}"}
  nothing: {from: "${steps.skipped.outputs.x}", optional: true}
""")
    assert result["status"] == "success" and result["outputs"] == {"reads": {"x": None, "status": "skipped"}, "nothing": None}


def test_a_timeout_is_not_retried_and_each_round_has_its_own_retries(home, server):
    result, run = result_of(home, server, """name: times
steps:
  - {name: slow, tool: shell, timeout: 0.2, retry: {max_retries: 3, base_delay: 0.01}, continue_on_error: true, inputs: {command: "sleep 600"}}
  - name: rounds
    tool: shell
    depends_on: [slow]
    retry: {max_retries: 1, base_delay: 0.01}
    loop_until: int(steps.rounds.outputs.stdout) >= 6
    loop_max: "${1 + 4}"
    inputs: {command: "echo x >> tries; n=$(wc -l < tries); test $((n % 2)) = 0 && echo $n"}
outputs:
  tries: {from: "${int(steps.rounds.outputs.stdout)}"}
""")
    steps = {step["step"]: step for step in server.get(f"/api/runs/{run}/steps").body["steps"]}
    assert steps["slow"]["attempts"] == 1 and steps["slow"]["failure"]["code"] == "timeout"
    assert result["outputs"] == {"tries": 6}, "three rounds, each failed once and was retried once"


def test_a_required_output_that_is_missing_fails_the_run(home, server):
    result, _ = result_of(home, server, """name: lacks
steps: [{name: one, tool: echo, inputs: {x: 1}}]
outputs: {y: {from: "${steps.one.outputs.y}"}}
""")
    assert result["status"] == "failed" and "y" in str(result)
