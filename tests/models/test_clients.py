"""The providers' own clients read what the fake provider sends, which keeps it honest; Baton reads the same."""
import json
import pathlib
import subprocess

import pytest
from baton import PATIENCE_S
from fake_provider import FakeProvider

CLIENTS = pathlib.Path(__file__).with_name("clients.mjs")
REPLY = {"text": "Grüße 😀", "thinking": "Hmm.", "calls": [("call_a", "grep", '{"p":1}'), ("call_b", "glob", "{}")]}
STOPS = {"chat": "tool_calls", "responses": "completed", "messages": "tool_use"}


@pytest.fixture
def provider():
    with FakeProvider() as provider:
        yield provider


def understood(format, provider, stream):
    done = subprocess.run(["node", CLIENTS, format, provider.base, json.dumps(stream)], capture_output=True, text=True,
                          timeout=PATIENCE_S, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("format", STOPS)
def test_the_client_of_the_provider_understands_the_fake(provider, format, stream):
    provider.then(**REPLY)
    got = understood(format, provider, stream)
    assert got["text"] == REPLY["text"] and got.get("thinking", REPLY["thinking"]) == REPLY["thinking"]
    assert [tuple(call) for call in got["calls"]] == REPLY["calls"]
    assert got["usage"] == [20, 7, 12] and got["stop"] == STOPS[format]


@pytest.mark.parametrize("format", STOPS)
def test_a_refusal_is_one_for_the_client_too(provider, format):
    provider.then(status=429, fault="rate_limit_error", headers={"Retry-After": "1"})
    assert understood(format, provider, True) == {"status": 429, "name": "RateLimitError"}


@pytest.mark.parametrize("format", STOPS)
def test_baton_understands_the_same(home, provider, format):
    provider.then(**REPLY)
    server = home.serve()
    yaml = f"""
name: same
agents:
  ada: {{driver: "api:custom", model: m, options: {{base_url: "{provider.base}", format: {format}}}}}
steps:
  - {{name: say, agent: ada, inputs: {{prompt: Speak.}}}}
"""
    run = server.run_of(home.define(yaml))
    server.until(run, "turn.finished")
    (finished,) = [event["data"] for event in server.events(run) if event["type"] == "turn.finished"]
    output = finished["output"]["is"]
    assert output["text"] == REPLY["text"] and output["stop"] == "calls"
    assert output["thinking"][0]["text"] == REPLY["thinking"]
    assert [(call["id"], call["name"], json.dumps(call["arguments"], separators=(",", ":"))) for call in output["calls"]] == REPLY["calls"]
    # Of the input tokens of this format, those written to the cache are counted apart.
    assert finished["usage"]["input_tokens"] == (17 if format == "messages" else 20) and finished["usage"]["output_tokens"] == 7
