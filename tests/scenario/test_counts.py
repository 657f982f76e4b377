"""What a run costs: rows and commits, counted and not timed."""
import pytest

STEPS = 10


def chain(steps):
    lines = ["name: chain", "steps:"]
    for number in range(steps):
        lines += [f"  - name: s{number}", "    tool: echo", f"    inputs: {{n: {number}}}"]
        if number > 0:
            lines.append(f"    depends_on: [s{number - 1}]")
    return "\n".join(lines) + "\n"


def warm_up(home, server):
    """One run, after which the WAL holds what is counted: its first write may begin it anew."""
    server.start(home.define("name: warm\nsteps:\n  - {name: a, tool: echo}\n"), wait=True)


def test_a_chain_costs_one_row_and_one_commit_a_step(home, server):
    name = home.define(chain(STEPS))
    warm_up(home, server)
    before = home.commits()
    assert server.start(name, wait=True).body["status"] == "success"
    commits = home.commits() - before
    types = server.types(server.get("/api/runs").body[0]["run_id"])
    assert types == ["run.created"] + ["step.computed"] * STEPS + ["run.finished"]
    assert len(types) <= 2 * STEPS + 3
    assert commits == STEPS  # the first step is stored with the run's creation


def test_the_rows_are_the_events(home, server):
    name = home.define(chain(STEPS))
    run = server.start(name, wait=True).body["run_id"]
    events = server.events(run)
    server.kill()
    with home.database() as database:
        rows = database.execute("SELECT seq, type FROM events ORDER BY position").fetchall()
        assert rows == [(event["seq"], event["type"]) for event in events]
        assert database.execute("SELECT count(*) FROM runs").fetchone() == (1,)
        assert database.execute("SELECT count(*) FROM effects").fetchone() == (0,)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_mixed_run_keeps_the_bound(home, server):
    name = home.define("""
name: mixed
steps:
  - {name: a, tool: echo, inputs: {x: 1}}
  - {name: b, tool: shell, depends_on: [a], inputs: {command: "echo b"}}
  - {name: c, wait: {seconds: 0.01}, depends_on: [b]}
  - {name: d, tool: shell, depends_on: [c], inputs: {command: "echo d"}}
  - {name: e, human: {question: "well?"}, depends_on: [d]}
  - {name: f, tool: echo, depends_on: [e], inputs: {x: 2}}
""")
    warm_up(home, server)
    before = home.commits()
    run = server.run_of(name)
    request = server.until(run, "human.requested")["data"]["effect"]
    assert server.respond(request).status == 200
    assert server.finish(run)["status"] == "success"
    steps = 6
    assert len(server.events(run)) <= 2 * steps + 3
    contained = 2  # the result before a contained step is committed alone, then its tree is taken
    assert home.commits() - before == steps + contained


@pytest.mark.parametrize("width", [1, 5])
def test_parallel_pure_steps_keep_the_bound(home, server, width):
    lines = ["name: wide", "steps:"]
    for number in range(width):
        lines.append(f"  - {{name: s{number}, tool: echo, inputs: {{n: {number}}}}}")
    warm_up(home, server)
    before = home.commits()
    run = server.start(home.define("\n".join(lines) + "\n"), wait=True).body["run_id"]
    assert len(server.events(run)) <= 2 * width + 3
    assert home.commits() - before <= width + 1


def test_refused_requests_cost_nothing(home, server):
    home.define(chain(STEPS))
    before = home.commits()
    assert server.start("chain", {"unknown": 1}).status == 422
    assert server.start("nobody").status == 404
    assert home.commits() == before


# What a step of each kind costs: its definition, the steps it comes to (containers and what is in them), and the
# commits.  In a row, so that nothing is committed together that happened to come at the same time.
AGENT = "agents: {ada: {driver: script, options: {replies: [{json: {done: false}}]}}}\n"
KINDS = {
    "agent": (AGENT, "agent: ada, inputs: {prompt: hello}", 1, 1),
    "artifact": ("", "tool: write_artifact, inputs: {name: a, content: x}", 1, 1),
    "tool in a parallel": ("", "parallel: {steps: [{name: a, tool: sleep, inputs: {seconds: 0}}]}", 2, 1),
    "two tools in a parallel": (
        "", "parallel: {steps: [{name: a, tool: sleep, inputs: {seconds: 0}}, {name: b, tool: sleep, inputs: {seconds: 0}, "
        "depends_on: [a]}]}", 3, 2),
    "map of one at a time": (
        "", "map: {over: [1, 2], at_once: 1, steps: [{name: a, tool: sleep, inputs: {seconds: 0}}]}", 3, 2),
    "loop of agents": (
        AGENT, "loop: {until: steps.a.outputs.json.done, max: 3, on_limit: continue, steps: [{name: a, agent: ada, inputs: {prompt: hello}}]}", 6, 3),
    "verify that passes at once": (
        "", "parallel: {steps: [{name: a, tool: sleep, inputs: {seconds: 0}}, {name: check, depends_on: [a], "
        "verify: {target: a, criteria: [{name: there, check: 'true'}]}}]}", 3, 1),
    "verify with a correction by a tool": (
        "", "parallel: {steps: [{name: a, tool: sleep, inputs: {seconds: 0}}, {name: check, depends_on: [a], "
        "verify: {target: a, criteria: [{name: good, check: \"output.fix.text == 'good'\"}], "
        "steps: [{name: slow, tool: sleep, inputs: {seconds: 0}}, {name: fix, tool: echo, depends_on: [slow], "
        "inputs: {text: good}}]}}]}", 6, 3),
    "verify that is corrected by what is computed": (
        "", "parallel: {steps: [{name: a, tool: sleep, inputs: {seconds: 0}}, {name: check, depends_on: [a], "
        "verify: {target: a, criteria: [{name: good, check: \"output.text == 'good'\"}], "
        "steps: [{name: fix, tool: echo, inputs: {text: good}}]}}]}", 5, 2),
    "gate of a tool": ("", "gate: {steps: [{name: a, tool: sleep, inputs: {seconds: 0}}]}", 2, 1),
    "gate of tools in a row": (
        "", "gate: {steps: [{name: a, tool: sleep, inputs: {seconds: 0}}, {name: b, tool: sleep, inputs: {seconds: 0}, "
        "depends_on: [a]}]}", 3, 2),
    "gate of a tool and what is computed": (
        "", "gate: {steps: [{name: a, tool: sleep, inputs: {seconds: 0}}, {name: b, tool: echo, inputs: {passed: true}, "
        "depends_on: [a]}]}", 3, 2),
    "tool that is run again": ("", "tool: sleep, inputs: {seconds: 0}, loop_until: 'false', loop_max: 2", 2, 2),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_step_keeps_the_bound(home, server, kind):
    """At most one commit and two rows a step."""
    head, words, steps, commits = KINDS[kind]
    count = 4
    lines = [f"  - {{name: s{n}, depends_on: [{f's{n - 1}' if n else ''}], {words}}}" for n in range(count)]
    name = home.define("name: kinds\n" + head + "steps:\n" + "\n".join(lines) + "\n")
    warm_up(home, server)
    before = home.commits()
    result = server.start(name, wait=True).body
    assert result["status"] == "success", result
    assert len(server.events(result["run_id"])) <= 2 * steps * count + 2
    # And the one that made the run.
    assert home.commits() - before == commits * count + 1
    assert commits <= steps


def test_a_run_within_a_run_keeps_the_bound(home, server):
    """The inner run's own steps, and one commit of the outer one on either side."""
    home.define("name: inner\nsteps:\n  - {name: a, tool: sleep, inputs: {seconds: 0}}\n")
    name = home.define("name: outer\nsteps:\n  - {name: a, workflow: inner}\n  - {name: b, workflow: inner, depends_on: [a]}\n")
    warm_up(home, server)
    before = home.commits()
    run = server.start(name, wait=True).body["run_id"]
    assert server.types(run) == ["run.created"] + ["subrun.requested", "subrun.finished"] * 2 + ["run.finished"]
    inner = [event["data"]["effect"] for event in server.events(run) if event["type"] == "subrun.requested"]
    assert [server.types(one) for one in inner] == [["run.created", "tool.requested", "tool.finished", "run.finished"]] * 2
    assert home.commits() - before == 3 + 2 * 2
