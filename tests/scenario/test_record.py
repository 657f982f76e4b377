"""baton record and baton run --replay: a run asks its models once, and is repeated without key and network."""
import concurrent.futures
import json
import pathlib

import pytest
from baton import EXIT, killed, new_id
from fake_provider import FakeProvider

KEY = "sk-canary-71c0ffee"
KEYS = {"BATON_SECRETS_ALLOW": "CANARY_KEY", "CANARY_KEY": KEY}


@pytest.fixture
def provider():
    with FakeProvider() as provider:
        yield provider


def agents(fake, **options):
    options = json.dumps({"base_url": fake.base, "format": "chat", "api_key": "env:CANARY_KEY", **options})
    return f"""
agents:
  ada: {{driver: "api:custom", model: m1, system: Be brief., tools: [submit, echo], options: {options}}}
  bob: {{driver: "api:custom", model: m2, options: {options}}}
  pat: {{driver: script, options: {{replies: [{{text: from a script}}]}}}}"""


def definition(fake, **options):
    """An agent with a tool, whose second request has the first reply; a loop over two items; an agent that is no api agent."""
    return f"""
name: recorded
inputs: {{who: {{type: string, default: Grace}}}}
{agents(fake, **options)}
steps:
  - {{name: ask, agent: ada, inputs: {{prompt: "Greet ${{inputs.who}}."}}}}
  - name: each
    depends_on: [ask]
    map: {{over: [1, 2], as: n, at_once: 1, steps: [{{name: say, agent: bob, inputs: {{prompt: "Count ${{n}}."}}}}]}}
  - {{name: script, agent: pat, inputs: {{prompt: "x"}}}}
outputs:
  ask: {{from: "${{steps.ask.outputs.text}}"}}
"""


def cassette(home, name):
    return pathlib.Path(home.data, "cassettes", name)


def replies(home, name):
    return sorted(cassette(home, name).glob("*.json"))


def turns(events):
    return [(event["data"]["step"], event["data"].get("output")) for event in events if event["type"] == "turn.finished"]


def answers(provider):
    provider.then(calls=[("c1", "echo", '{"x": 1}')])
    provider.then(text="Hello Grace.")
    provider.then(text="One.")
    provider.then(text="Two.")


def write(home, name, text):
    path = pathlib.Path(home.path, name)
    path.write_text(text)
    return str(path)


def start(server, workflow, **more):
    answer = server.request("POST", "/api/run", {"workflow": workflow, "inputs": {}, **more})
    assert answer.status == 202, answer
    return answer.body["run_id"]


def record(home, yaml, *words):
    return home.cli("record", yaml, *words, **KEYS)


def test_a_recorded_run_is_replayed_without_key_and_network(home, provider):
    """The same agents' turns, with the same calls of tools; the agent of another driver answers itself."""
    yaml = write(home, "flow.yaml", definition(provider))
    answers(provider)
    first, again = new_id(), new_id()
    status, output, errors = record(home, yaml, "--cassette", "demo", "--id", first)
    assert status == 0 and "Hello Grace." in output, errors
    assert len(provider.requests) == 4 and len(replies(home, "demo")) == 4
    status, output, errors = home.cli("run", yaml, "--replay", "demo", "--id", again)
    assert status == 0 and "Hello Grace." in output, errors
    assert len(provider.requests) == 4
    server = home.serve()
    before, after = turns(server.events(first)), turns(server.events(again))
    assert len(before) == 5 and before == after


def test_the_cassette_is_pinned_with_the_run(home, provider):
    """run.created has the name; a run of the same file without a cassette asks the model and records nothing."""
    server = home.serve(**KEYS)
    yaml = definition(provider)
    home.define(yaml, "recorded")
    answers(provider)
    run = start(server, "recorded", record="demo")
    assert server.finish(run)["status"] == "success"
    assert server.events(run)[0]["data"]["record"] == "demo"
    answers(provider)
    assert server.finish(start(server, "recorded"))["status"] == "success"
    assert len(provider.requests) == 8 and len(replies(home, "demo")) == 4
    run = start(server, "recorded", replay="demo")
    assert server.finish(run)["status"] == "success" and server.events(run)[0]["data"]["replay"] == "demo"
    assert len(provider.requests) == 8


def test_a_cassette_has_no_key(home, provider):
    yaml = write(home, "flow.yaml", definition(provider))
    answers(provider)
    status, output, errors = record(home, yaml, "--cassette", "demo")
    assert status == 0 and KEY in json.dumps(provider.requests, default=str)
    files = [path for path in cassette(home, "demo").rglob("*") if path.is_file()]
    assert len(files) == 5  # four replies, and the run's id
    for path in files:
        assert KEY not in path.read_text() and path.stat().st_mode & 0o077 == 0
    assert KEY not in output + errors


def test_a_cassette_of_another_run_is_not_overwritten(home, provider):
    yaml = write(home, "flow.yaml", definition(provider))
    answers(provider)
    assert record(home, yaml, "--cassette", "demo")[0] == 0
    kept = {path.name: path.read_text() for path in replies(home, "demo")}
    status, _, errors = record(home, yaml, "--cassette", "demo")
    assert status == EXIT["conflict"] and "cassette demo exists already" in errors and "--append" in errors
    assert len(provider.requests) == 4
    provider.then(calls=[("c1", "echo", '{"x": 2}')])
    provider.then(text="Hello Ada.")
    provider.then(text="Uno.")
    provider.then(text="Dos.")
    status, output, errors = record(home, yaml, "--cassette", "demo", "--append", "--input", "who=Ada")
    assert status == 0 and "Hello Ada." in output, errors
    now = {path.name: path.read_text() for path in replies(home, "demo")}
    assert len(now) == 6  # the two requests of bob were the same: they have the new replies
    assert sum(now[name] == kept[name] for name in kept) == 2
    assert "Hello Grace." in home.cli("run", yaml, "--replay", "demo")[1]
    assert "Hello Ada." in home.cli("run", yaml, "--replay", "demo", "--input", "who=Ada")[1]


def test_of_two_runs_one_records(home, provider):
    """Two starts at the same time name the same new cassette: one of them is refused."""
    server = home.serve(**KEYS)
    home.define(definition(provider), "recorded")
    provider.always(text="x")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        body = {"workflow": "recorded", "inputs": {}, "record": "demo"}
        got = list(pool.map(lambda _: server.request("POST", "/api/run", body).status, range(8)))
    assert sorted(got) == [202] + [409] * 7


@pytest.mark.parametrize("words, status, part", [
    (["record", "{api}"], "usage", "--cassette NAME"),
    (["record", "{api}", "--cassette", "../demo"], "invalid", "record"),
    (["record", "{script}", "--cassette", "demo"], "invalid", "there is nothing to record"),
    (["run", "{api}", "--replay", "none"], "not_found", "there is no cassette none"),
])
def test_bad_input(home, provider, words, status, part):
    files = {"api": write(home, "flow.yaml", definition(provider)),
             "script": write(home, "script.yaml", "name: s\nagents: {a: {driver: script, options: {replies: [{text: x}]}}}\n"
                                                 "steps: [{name: s, agent: a, inputs: {prompt: p}}]\n")}
    got, _, errors = home.cli(*[word.format(**files) for word in words], **KEYS)
    assert got == EXIT[status] and part in errors, errors
    assert not provider.requests and not cassette(home, "demo").exists()


def test_a_run_records_or_replays(home, provider):
    server = home.serve(**KEYS)
    home.define(definition(provider), "recorded")
    cassette(home, "demo").mkdir(parents=True)
    got = server.request("POST", "/api/run", {"workflow": "recorded", "inputs": {}, "record": "new", "replay": "demo"})
    assert got.status == 422 and "remove record or replay" in got.body["detail"]


@pytest.mark.parametrize("point, kept", [("file.before_rename", 0), ("file.after_rename", 1)])
def test_a_killed_recorder_leaves_no_half_reply(home, provider, point, kept):
    """kill -9 while a reply is written: the cassette has the whole reply or none.  The run asks again and records the rest."""
    server = home.serve(BATON_POINTS=f"{point}=kill", **KEYS)
    home.define(definition(provider), "recorded")
    answers(provider)
    run = new_id()
    start(server, "recorded", run_id=run, record="demo")
    assert killed(server)
    found = replies(home, "demo")
    assert len(found) == kept and all(json.loads(path.read_text())["reply"] for path in found)
    provider.queue.clear()
    answers(provider)
    server = home.serve(**KEYS)
    assert server.finish(run)["status"] == "success"
    assert len(replies(home, "demo")) == 4
    assert not [path for path in cassette(home, "demo").iterdir() if path.name.endswith(".new")]
    assert server.finish(start(server, "recorded", replay="demo"))["status"] == "success"


def test_sub_workflows_are_recorded(home, provider):
    server = home.serve(**KEYS)
    home.define(definition(provider), "recorded")
    home.define("name: outer\nsteps: [{name: inner, workflow: recorded}]\n", "outer")
    answers(provider)
    assert server.finish(start(server, "outer", record="demo"))["status"] == "success"
    assert len(replies(home, "demo")) == 4
    assert server.finish(start(server, "outer", replay="demo"))["status"] == "success"
    assert len(provider.requests) == 4
