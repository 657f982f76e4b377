"""Agents whose model is asked over HTTP: the driver api against a provider on loopback, which misbehaves on demand.

What a provider sends is checked by its own clients in tests/models; what a cut does at every byte, in tests/unit/llm."""
import datetime
import email.utils
import json
import pathlib
import re
import time

import pytest
from baton import ROOT, wait_until
from fake_provider import FakeProvider, stream_of

FORMATS = ["chat", "responses", "messages"]
KEY = "sk-canary-4f1d6b2a9e"
KEYS = {"BATON_SECRETS_ALLOW": "CANARY_KEY", "CANARY_KEY": KEY}


@pytest.fixture
def provider():
    with FakeProvider() as provider:
        yield provider


@pytest.fixture
def server(home):
    return home.serve(**KEYS)


def definition(fake, format="chat", step="", model="m1", **options):
    options = {"base_url": fake.base, "format": format, "api_key": "env:CANARY_KEY", **options}
    return f"""
name: models
agents:
  ada:
    driver: api:custom
    model: {model}
    system: Be brief.
    options: {json.dumps(options)}
steps:
  - name: say
    agent: ada
    inputs: {{prompt: "Speak."}}
    {step}
outputs: {{text: {{from: "${{steps.say.outputs.text}}", optional: true}}}}
"""


def of(events, type):
    return [event["data"] for event in events if event["type"] == type]


def ended(home, server, yaml):
    run = server.run_of(home.define(yaml))
    return server.finish(run), server.events(run)


def fault(home, server, yaml):
    result, events = ended(home, server, yaml)
    assert result["status"] == "failed", result
    return of(events, "turn.finished")[-1]["fault"]


def outcome(server, run):
    server.finish(run)
    return of(server.events(run), "run.finished")[0]["outcome"]


# ---- replies ---------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("format", FORMATS)
def test_a_model_answers(home, server, provider, format, stream):
    provider.then(text="Grüße 😀", thinking="Hmm.")
    result, events = ended(home, server, definition(provider, format, stream=stream))
    assert result["status"] == "success" and result["outputs"] == {"text": "Grüße 😀"}
    (finished,) = of(events, "turn.finished")
    created = 3 if format == "messages" else 0
    assert finished["usage"] == {"input_tokens": 20 - created, "output_tokens": 7, "cache_read_tokens": 12,
                                 "cache_creation_tokens": created, "cost_usd": 0, "provider": "custom", "model": "m1"}
    (request,) = provider.requests
    assert request["format"] == format and request["body"]["model"] == "m1" and request["body"]["stream"] is stream
    sent = request["headers"]
    assert (sent["x-api-key"] if format == "messages" else sent["Authorization"]) == (KEY if format == "messages" else f"Bearer {KEY}")


def test_connections_are_reused(home, server, provider):
    yaml = definition(provider)
    for _ in range(5):
        assert ended(home, server, yaml)[0]["status"] == "success"
    assert len(provider.requests) == 5 and provider.connections == 1
    assert server.figures()["baton_models_connections_total"] == 1


# ---- failures ----------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("reply, code, part", [
    ({"status": 400}, "invalid", "HTTP status 400: so it is"),
    ({"status": 400, "message": "prompt is too long: 9 > 8"}, "too_large", "prompt is too long"),
    ({"status": 401}, "unauthenticated", "check the key in env:CANARY_KEY"),
    ({"status": 403}, "forbidden", "HTTP status 403"),
    ({"status": 404}, "invalid", "check the name of the model"),
    ({"status": 413}, "too_large", "HTTP status 413"),
    ({"status": 429, "headers": {"Retry-After": "1"}}, "rate_limited", "HTTP status 429"),
    ({"status": 500}, "unavailable", "HTTP status 500"),
    ({"status": 503}, "overloaded", "HTTP status 503"),
    ({"status": 529}, "overloaded", "HTTP status 529"),
    ({"status": 302, "headers": {"Location": "http://127.0.0.1/"}}, "invalid", "redirects are not followed"),
    ({"status": 502, "raw": b"<html>gateway</html>", "type": "text/html"}, "unavailable", "an HTML page"),
    ({"raw": b"<html>hello</html>", "type": "text/html"}, "invalid", "its content type is \"text/html\""),
    ({"text": "a", "type": "text/plain"}, "invalid", "its content type is \"text/plain\""),
    ({"raw": b"{\"choices\": [", "type": "application/json"}, "unavailable", "not JSON"),
    ({"raw": b"", "type": "text/event-stream"}, "unavailable", "was cut"),
    ({"raw": b"data: {oops}\n\n", "type": "text/event-stream"}, "invalid", "not a JSON object"),
    ({"raw": b"x" * 100_000_000, "type": "application/json"}, "invalid", "larger than"),
    ({"raw": b"data: " + b"x" * 100_000_000, "type": "text/event-stream"}, "invalid", "larger than"),
    ({"text": "a", "cut": 60}, "unavailable", ""),
    ({"endless": True}, "invalid", "does not end within"),
])
def test_a_bad_answer_is_a_clear_failure(home, server, provider, format, reply, code, part):
    provider.then(**reply)
    got = fault(home, server, definition(provider, format))
    assert got["code"] == code and part in got["text"] and got["text"].startswith("custom m1, turn 1: "), got
    assert server.get("/health").status == 200


def test_a_silent_provider_is_given_up(home, server, provider):
    provider.then(hang=True)
    got = fault(home, server, definition(provider, timeout_seconds=0.3))
    assert got["code"] == "timeout" and "no response within 0.3 seconds" in got["text"]


def test_a_provider_that_falls_silent_in_its_reply_is_given_up(home, server, provider):
    provider.then(text="all of it", stall=300)
    got = fault(home, server, definition(provider, timeout_seconds=3))
    assert got["code"] == "timeout" and "no more data within 3 seconds" in got["text"]


@pytest.mark.parametrize("format", FORMATS)
def test_a_reply_in_single_bytes_is_a_reply(home, server, provider, format):
    provider.then(text="Grüße 😀", drip=True)
    assert ended(home, server, definition(provider, format))[0]["outputs"] == {"text": "Grüße 😀"}


@pytest.mark.parametrize("where", [{"hang": True}, {"stall": 400}])
def test_a_turn_that_was_open_in_a_crash_is_asked_again_byte_for_byte(home, server, provider, where):
    provider.then(text="lost", **where)
    run = server.run_of(home.define(definition(provider)))
    assert provider.hanging.acquire(timeout=110)
    server.kill()
    provider.then(text="kept")
    server = home.serve(**KEYS)
    assert server.finish(run)["outputs"] == {"text": "kept"}
    first, second = provider.requests
    assert first["body"] == second["body"]
    assert [turn["outcome"] for turn in of(server.events(run), "turn.finished")] == ["ok"]


def test_nobody_listens(home, server, provider):
    got = fault(home, server, definition(provider, base_url=f"http://127.0.0.1:{home.port()}/v1"))
    assert got["code"] == "unavailable"


def test_a_cancelled_turn_ends_at_once(home, server, provider):
    provider.then(hang=True)
    run = server.run_of(home.define(definition(provider)))
    assert provider.hanging.acquire(timeout=110)
    server.tell(run, "cancel")
    assert outcome(server, run) == "cancelled"
    assert [turn["outcome"] for turn in of(server.events(run), "turn.finished")] == ["cancelled"]


@pytest.mark.parametrize("format", FORMATS)
def test_a_stream_that_breaks_is_asked_again(home, server, provider, format):
    whole = stream_of(format, {"text": "all of it"})
    for cut in (len(whole) // 3, len(whole) - 1):
        provider.then(text="all of it", cut=cut)
    provider.then(text="all of it")
    step = "retry: {max_retries: 3, base_delay: 0.1, max_delay: 1}"
    result, events = ended(home, server, definition(provider, format, step=step))
    assert result["outputs"] == {"text": "all of it"}
    # A stream that lacks nothing but its last line end is complete for nobody but us: the end was not seen.
    assert [turn["outcome"] for turn in of(events, "turn.finished")] == ["failed", "failed", "ok"]


# ---- Retry-After ---------------------------------------------------------------------------------


@pytest.mark.parametrize("headers", [{"Retry-After": "7"}, {"Retry-After-Ms": "7000"}, "date"])
def test_a_retry_waits_as_long_as_the_provider_wants(home, server, provider, headers):
    before, dated = time.time(), headers == "date"
    if dated:
        headers = {"Retry-After": email.utils.formatdate(time.time() + 60, usegmt=True)}
    provider.then(status=429, headers=headers)
    run = server.run_of(home.define(definition(provider, step="retry: {max_retries: 1, base_delay: 0.1, max_delay: 1}")))
    finished = server.until(run, "turn.finished")
    at = datetime.datetime.fromisoformat(finished["data"]["next"]["retry_at"].replace("Z", "+00:00")).timestamp()
    assert at >= before + (58 if dated else 7)
    server.tell(run, "cancel")
    server.finish(run)


# ---- keys ----------------------------------------------------------------------------------------


def test_a_missing_key_refuses_the_start(home, provider):
    server = home.serve()
    answer = server.start(home.define(definition(provider)))
    assert answer.status == 422 and answer.body["code"] == "configuration", answer
    assert "step say, agent ada: it cannot ask custom: the API key env:CANARY_KEY may not be read" in answer.body["detail"]
    yaml = definition(provider).replace("api:custom", "api:openai")
    yaml = yaml.replace(json.dumps({"base_url": provider.base, "format": "chat", "api_key": "env:CANARY_KEY"}), "{}")
    answer = server.start(home.define(yaml))
    assert answer.status == 422 and "env:OPENAI_API_KEY is not set in the environment of the server" in answer.body["detail"]
    assert provider.requests == []


@pytest.mark.parametrize("options, part", [
    ({"provider": "openai"}, "the options name another provider"),
    ({"api_key": "env:OPENAI_API_KEY"}, "this key is sent to the provider openai only"),
    ({"base_url": "file:///etc/passwd"}, "no base URL"),
    ({"colour": 1}, "colour"),
])
def test_bad_options_refuse_the_start(home, server, provider, options, part):
    answer = server.start(home.define(definition(provider, **options)))
    assert answer.status == 422 and part in json.dumps(answer.body), answer
    assert provider.requests == []


def test_the_key_is_nowhere(home, server, provider):
    """Not in events, outputs, errors, logs or files, even if the provider sends it back."""
    for format in FORMATS:
        provider.then(status=401, echo=True)
        assert KEY not in json.dumps(fault(home, server, definition(provider, format)))
        provider.then(status=400, message="x" * 190, echo=True)
        assert "sk-canary" not in json.dumps(fault(home, server, definition(provider, format)))
        provider.then(text=f"Your key is {KEY}.")
        assert fault(home, server, definition(provider, format))["code"] == "invalid"
        provider.then(text="fine")
        assert ended(home, server, definition(provider, format, record="kept"))[0]["status"] == "success"
    assert KEY not in server.errors()
    server.end()
    for path in pathlib.Path(home.data).rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path


def test_a_model_may_not_be_the_server_itself(home, server, provider):
    got = fault(home, server, definition(provider, base_url=f"http://{server.address}/v1"))
    assert got["code"] == "forbidden" and "models.private_addresses" in got["text"]


def test_private_addresses_are_the_operators_choice(home, provider):
    server = home.serve(BATON_MODELS_PRIVATE_ADDRESSES="10.9.9.9", **KEYS)
    got = fault(home, server, definition(provider))
    assert got["code"] == "forbidden" and provider.requests == []


# ---- many, and none --------------------------------------------------------------------------------


def test_another_model_answers_when_the_first_cannot(home, server, provider):
    fallback = [{"model": "m2"}, {"model": "m3", "format": "messages"}]
    provider.then(status=529)
    provider.then(status=500)
    provider.then(text="from the third")
    result, events = ended(home, server, definition(provider, fallback=fallback))
    assert result["outputs"] == {"text": "from the third"} and len(of(events, "turn.requested")) == 1
    assert [(r["format"], r["body"]["model"]) for r in provider.requests] == [("chat", "m1"), ("chat", "m2"), ("messages", "m3")]
    provider.then(status=400)
    assert fault(home, server, definition(provider, fallback=fallback))["code"] == "invalid", "another model cannot help"
    assert len(provider.requests) == 4


def test_a_model_that_keeps_failing_is_left_alone(home, provider):
    server = home.serve(BATON_POINTS="model.open_ms=limit@3600000", **KEYS)
    provider.always(status=500)
    for _ in range(5):
        assert fault(home, server, definition(provider))["text"].endswith("HTTP status 500: so it is")
    got = fault(home, server, definition(provider))
    assert got["code"] == "unavailable" and "failed 5 times in a row and is not asked for another 3" in got["text"], got
    assert len(provider.requests) == 5
    figures = server.figures()
    assert figures["baton_models_open"] == 1 and figures["baton_models_opened_total"] == 1
    provider.always(text="another model is asked")
    assert ended(home, server, definition(provider, model="m2"))[0]["status"] == "success"


def test_one_request_tries_a_model_that_has_failed(home, provider):
    server = home.serve(BATON_POINTS="model.open_ms=limit@1", **KEYS)
    provider.always(status=500)
    for _ in range(6):
        fault(home, server, definition(provider))
    provider.always(text="again")
    assert ended(home, server, definition(provider))[0]["outputs"] == {"text": "again"}
    assert server.figures()["baton_models_open"] == 0


def test_a_provider_gets_so_many_requests_at_once(home, provider):
    server = home.serve(BATON_MODELS_CONCURRENCY="3", **KEYS)
    provider.always(text="fine", hang=True)
    workflow = home.define(definition(provider))
    runs = [server.run_of(workflow) for _ in range(8)]
    wait_until(lambda: server.figures()["baton_models_waiting"] == 5)
    for _ in range(3):
        assert provider.hanging.acquire(timeout=110)
    assert len(provider.requests) == 3 and server.figures()["baton_models_requests"] == 3
    server.tell(runs[7], "cancel")
    assert outcome(server, runs[7]) == "cancelled"
    provider.release()
    assert [server.finish(run)["status"] for run in runs[:7]] == ["success"] * 7
    assert len(provider.requests) == 7


def test_many_streams_at_once(home, server, provider):
    provider.always(text="fine", hang=True)
    workflow = home.define(definition(provider))
    runs = [server.run_of(workflow) for _ in range(100)]
    for _ in range(100):
        assert provider.hanging.acquire(timeout=110)
    assert server.figures()["baton_models_requests"] == 100
    provider.release()
    assert all(server.finish(run)["status"] == "success" for run in runs)


# ---- cassettes -------------------------------------------------------------------------------------


def replay(yaml):
    lines = [line for line in yaml.splitlines() if not line.strip().startswith("options:")]
    text = "\n".join(lines).replace("driver: api:custom", "driver: replay")
    return text.replace("system: Be brief.", "system: Be brief.\n    options: {cassette: mine}")


def test_a_recorded_reply_is_replayed(home, server, provider):
    provider.then(text="recorded", thinking="Hmm.")
    yaml = definition(provider, "messages", record="mine")
    result, events = ended(home, server, yaml)
    before = of(events, "turn.finished")[0]
    result, events = ended(home, server, replay(yaml))
    after = of(events, "turn.finished")[0]
    assert result["outputs"] == {"text": "recorded"} and after["output"] == before["output"] and {**after["usage"], "provider": "custom"} == before["usage"]
    assert len(provider.requests) == 1


def test_a_cassette_without_the_request_says_so(home, server, provider):
    got = fault(home, server, replay(definition(provider)))
    assert got["code"] == "invalid" and "cassette mine has no reply to this request" in got["text"]
    assert "cassettes/mine/" in got["text"]


# ---- tools -----------------------------------------------------------------------------------------


def results_of(request):
    """What the model is told about its calls: (id, text, whether it failed)."""
    body, format = request["body"], request["format"]
    if format == "chat":
        return [(m["tool_call_id"], m["content"], m["content"].startswith("Error: ")) for m in body["messages"] if m["role"] == "tool"]
    if format == "responses":
        return [(i["call_id"], i["output"], i["output"].startswith("Error: ")) for i in body["input"] if i["type"] == "function_call_output"]
    blocks = [block for message in body["messages"] for block in message["content"] if block["type"] == "tool_result"]
    return [(b["tool_use_id"], b["content"][0]["text"], b.get("is_error", False)) for b in blocks]


def thinking_of(request):
    """The reasoning that goes back."""
    body, format = request["body"], request["format"]
    if format == "responses":
        return [item["encrypted_content"] for item in body["input"] if item["type"] == "reasoning"]
    return [block["signature"] for message in body["messages"] for block in message["content"] if block.get("type") == "thinking"]


@pytest.mark.parametrize("format", FORMATS)
def test_a_model_works_with_tools(home, server, provider, format):
    provider.then(text="Two at once.", thinking="Hmm.", calls=[("call_a", "write_file", '{"path": "a.txt", "content": "seven"}'),
                                                              ("call_b", "nonsense", "{}")])
    provider.then(calls=[("call_c", "read_file", '{"path": "a.txt"}')])
    provider.then(text="It says seven.")
    yaml = definition(provider, format).replace("system: Be brief.", "system: Be brief.\n    tools: [write_file, read_file]")
    result, events = ended(home, server, yaml)
    assert result["outputs"] == {"text": "It says seven."}, events
    first, second, third = provider.requests
    assert [tool.get("name") or tool["function"]["name"] for tool in first["body"]["tools"]] == ["write_file", "read_file"]
    assert [(id, failed) for id, _, failed in results_of(second)] == [("call_a", False), ("call_b", True)]
    assert [id for id, _, _ in results_of(third)] == ["call_a", "call_b", "call_c"] and "seven" in results_of(third)[2][1]
    if format != "chat":
        assert thinking_of(third) == ["SEALED" if format == "responses" else "SIGNED"]


# ---- the manual ------------------------------------------------------------------------------------


def manual():
    text = (ROOT / "docs/models.md").read_text()
    return re.findall(r"```yaml\n(name: .*?)```", text, re.S)


@pytest.mark.parametrize("yaml", manual(), ids=lambda yaml: yaml.split()[1])
def test_the_files_of_the_manual_are_valid(home, yaml):
    path = pathlib.Path(home.data, "definitions", home.define(yaml) + ".yaml")
    status, out, errors = home.cli("check", str(path))
    assert status == 0, errors


def test_the_manual_has_every_provider_and_option():
    rows = re.findall(r'(?:PROVIDER|CUSTOM)\("(\w+)", +"([^"]*)", +RUN_MODEL_(\w+), +"(\w*)", +(\d+)',
                      (ROOT / "src/llm/providers.def").read_text())
    text = (ROOT / "docs/models.md").read_text()
    assert len(rows) == 9
    for name, url, format, variable, tokens in rows:
        (line,) = [line for line in text.splitlines() if line.startswith(f"| `api:{name}`")]
        assert url in line and f"`{format.lower()}`" in line and variable in line and f" {tokens} " in line
    fields = (ROOT / "contracts/run_model.def").read_text().split("run_api_options,")[1].split("END_ENTITY")[0]
    for name in re.findall(r"FIELD\((\w+)", fields):
        assert f"| `{name}` |" in text, name


# ---- the registry ------------------------------------------------------------------------------------


def test_an_agent_of_the_registry_has_its_model(home, server, provider):
    body = {"name": "ada", "role": "speaks", "system_prompt": "Be brief.", "driver": "api:custom",
            "llm_config": {"model": "m9", "endpoint": provider.base, "api_key": "env:CANARY_KEY"}}
    answer = server.request("POST", "/api/agents", body)
    assert answer.status in (200, 201), answer
    yaml = "name: registered\nsteps:\n  - {name: say, agent: ada, inputs: {prompt: Speak.}}\n"
    result, events = ended(home, server, yaml)
    assert result["status"] == "success", events
    assert provider.requests[0]["body"]["model"] == "m9" and provider.requests[0]["headers"]["Authorization"] == f"Bearer {KEY}"
    assert server.get("/api/agents/ada?view=run").body["driver"] == "api:custom"


def test_a_listener_never_sees_the_key(home, server, provider):
    """The key comes in two pieces of a stream that stands still behind it, in a reply that is dropped at its end."""
    reply = {"text": f"hello {KEY} and more"}
    body = stream_of("chat", reply, "m1")
    provider.then(**reply, stall=body.index(b"\n\n", body.index(b" and more")) + 2)
    run = server.run_of(home.define(definition(provider)))
    seen = ""
    with server.stream(f"/api/runs/{run}/stream?chunks") as stream:
        for told in stream:
            seen += told.event.get("delta", "")
            if " and" in seen:
                provider.release()
            if told.event.get("type") == "run.finished":
                break
    assert seen.startswith("hello ***") and KEY not in seen
    assert "the reply contains the API key" in of(server.events(run), "turn.finished")[0]["fault"]["text"]


@pytest.mark.parametrize("reply", [
    {"calls": [("c1", "shell", '{"command": "echo %s"}')]}, {"text": 'TOOL_CALL: {"name": "shell", "arguments": {"command": "%s"}}'}, {"text": '{"k": "%s"}'}])
def test_a_key_that_is_escaped_is_found(home, server, provider, reply):
    escaped = "".join(f"\\u{ord(c):04x}" for c in KEY)
    reply = json.loads(json.dumps(reply).replace("%s", escaped.replace("\\", "\\\\")))
    reply = {**reply, "calls": [tuple(one) for one in reply["calls"]]} if "calls" in reply else reply
    provider.always(**reply)
    yaml = definition(provider).replace("    system: Be brief.", "    system: Be brief.\n    tools: [shell]")
    result, events = ended(home, server, yaml)
    assert result["status"] == "failed" and KEY not in json.dumps(events)
    assert "the reply contains the API key" in of(events, "turn.finished")[0]["fault"]["text"]


def test_turns_with_the_same_request_record_one_cassette(home, server, provider):
    provider.always(text="Same.")
    yaml = definition(provider, record="same")
    steps = "\n".join(f'      - {{name: s{n}, agent: ada, inputs: {{prompt: "Speak."}}}}' for n in range(8))
    head, tail = yaml.split("steps:\n", 1)
    result, events = ended(home, server, head + "steps:\n  - name: all\n    parallel:\n     steps:\n" + steps + "\n")
    assert result["status"] == "success", result
    assert len(list(pathlib.Path(home.data, "cassettes", "same").glob("*.json"))) == 1
