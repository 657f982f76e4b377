"""Models that work with tools: the driver api and the turn loop together, against a provider on loopback."""
import json

import pytest
from baton import wait_until
from fake_provider import FakeProvider

FORMATS = ["chat", "responses", "messages"]
KEY = "sk-canary-77ab12cd90"
KEYS = {"BATON_SECRETS_ALLOW": "CANARY_KEY", "CANARY_KEY": KEY}


@pytest.fixture
def provider():
    with FakeProvider() as provider:
        yield provider


@pytest.fixture
def server(home):
    return home.serve(**KEYS)


def definition(fake, format, more="", step="", **options):
    options = {"base_url": fake.base, "format": format, "api_key": "env:CANARY_KEY", **options}
    return f"""
name: work
strict: true
agents:
  dev:
    driver: api:custom
    model: m1
    system: Be brief.
    tools: [shell, read_file]
    {more}
    options: {json.dumps(options)}
steps:
  - name: work
    agent: dev
    inputs: {{prompt: "Count the lines."}}
    {step}
outputs: {{text: {{from: "${{steps.work.outputs.text}}"}}}}
"""


def of(events, type):
    return [event["data"] for event in events if event["type"] == type]


def shell(id, command):
    return (id, "shell", json.dumps({"command": command}))


def ended(home, server, yaml):
    run = server.run_of(home.define(yaml))
    return server.finish(run), server.events(run)


def results_in(format, body):
    """Id, text and whether it failed, of every result of a call in a request."""
    if format == "chat":
        return [(m["tool_call_id"], m["content"]) for m in body["messages"] if m["role"] == "tool"]
    if format == "responses":
        return [(m["call_id"], m["output"]) for m in body["input"] if m.get("type") == "function_call_output"]
    return [(part["tool_use_id"], part["content"] if isinstance(part["content"], str) else part["content"][0]["text"])
            for m in body["messages"] if m["role"] == "user" and isinstance(m["content"], list)
            for part in m["content"] if part["type"] == "tool_result"]


def tools_in(format, body):
    return [tool["function"]["name"] if format == "chat" else tool["name"] for tool in body["tools"]]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("format", FORMATS)
def test_a_model_works_with_tools(home, server, provider, format, stream):
    provider.then(text="I look.", thinking="A file first.", calls=[shell("c1", "printf 'a\\nb\\n' > f; wc -l < f"), ("c2", "read_file", '{"path": "none"}')])
    # The arguments of this format are JSON already, so only the name can be wrong.
    broken, answer = (("none", "{}"), "there is no tool none") if format == "messages" else (("shell", '{"command": '), "not a JSON object")
    provider.then(calls=[("c3", *broken)])
    provider.then(text="Two lines.")
    result, events = ended(home, server, definition(provider, format, stream=stream))
    assert result["outputs"] == {"text": "Two lines."}, events
    bodies = [request["body"] for request in provider.requests]
    assert [tools_in(format, body) for body in bodies] == [["shell", "read_file"]] * 3
    assert results_in(format, bodies[0]) == []
    (first, out), (second, missing) = results_in(format, bodies[1])
    assert (first, second) == ("c1", "c2") and '"stdout":"2\\n"' in out and "not_found: cannot read none" in missing
    assert results_in(format, bodies[2])[2][0] == "c3" and answer in results_in(format, bodies[2])[2][1]
    usage = [data["usage"] for data in of(events, "turn.finished")]
    assert len(usage) == 3 and all(each["input_tokens"] > 0 for each in usage)


@pytest.mark.parametrize("format", FORMATS)
def test_a_request_is_the_same_after_a_crash(home, provider, format):
    """kill -9 while the second turn waits for its first byte: the third request equals the second."""
    server = home.serve(**KEYS)
    provider.then(thinking="Hm.", calls=[shell("c1", "echo one >> log; cat log")])
    provider.then(hang=True)
    provider.then(text="Done.")
    run = server.run_of(home.define(definition(provider, format)))
    wait_until(lambda: len(provider.requests) == 2)
    server.kill()
    server = home.serve(**KEYS)
    assert server.finish(run)["outputs"] == {"text": "Done."}
    raw = [json.dumps(request["body"]) for request in provider.requests]
    assert len(raw) == 3 and raw[1] == raw[2]
    events = server.events(run)
    assert len(of(events, "tool.requested")) == 1 and len(of(events, "tool.restarted")) == 1


def test_a_stream_that_breaks_is_retried_and_its_calls_are_not_made(home, server, provider):
    provider.then(text="I will delete everything.", calls=[shell("c1", "echo gone > gone")], cut=400)
    provider.then(text="Nothing to do.")
    result, events = ended(home, server, definition(provider, "chat", step="retry: {max_retries: 2, base_delay: 0.01}"))
    assert result["outputs"] == {"text": "Nothing to do."}
    assert not of(events, "tool.requested")
    assert [data["outcome"] for data in of(events, "turn.finished")] == ["failed", "ok"]


def test_a_refused_key_fails_the_turn_and_a_retry_goes_on_from_there(home, server, provider):
    provider.then(calls=[shell("c1", "echo one >> log; cat log")])
    provider.then(status=401, body={"error": {"message": f"Incorrect API key provided: {KEY}"}})
    provider.then(text="Done.")
    run = server.run_of(home.define(definition(provider, "chat")))
    assert server.finish(run)["status"] == "failed"
    fault = of(server.events(run), "run.finished")[0]["fault"]
    assert fault["code"] == "unauthenticated" and "turn 2" in fault["text"] and KEY not in json.dumps(server.events(run))
    assert home.cli("retry", run, **KEYS)[0] == 0
    wait_until(lambda: server.result(run)["status"] == "success")
    assert len(of(server.events(run), "tool.requested")) == 1


def test_no_call_sees_the_key(home, server, provider):
    provider.then(calls=[shell("c1", "env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'")])
    provider.then(text="Done.")
    result, events = ended(home, server, definition(provider, "chat"))
    assert result["outputs"] == {"text": "Done."}
    assert KEY not in json.dumps(events)
    assert KEY not in json.dumps([str(request) for request in provider.requests[1:]]).replace("Bearer " + KEY, "")


def test_a_schema_reaches_the_model_and_is_checked_here(home, server, provider):
    schema = "schema: {type: object, required: [lines], properties: {lines: {type: integer}}}"
    provider.then(text='{"lines": "two"}')
    provider.then(text='{"lines": 2}')
    result, events = ended(home, server, definition(provider, "chat", more=schema).replace("outputs.text}", "outputs.json.lines}"))
    assert result["outputs"] == {"text": 2}, events
    assert provider.requests[0]["body"]["response_format"]["type"] == "json_schema"
    assert "/lines" in of(events, "step.entered")[1]["note"]
