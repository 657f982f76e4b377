"""Pictures and recordings as input of models: from a definition, the command line, the API, a chat, and a tool."""
import base64
import hashlib
import json

import pytest
from baton import new_id
from fake_provider import FakeProvider

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
WAV = b"RIFF$\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x00\x00\x00\x00"
FORMATS = ["chat", "responses", "messages"]


@pytest.fixture
def provider():
    with FakeProvider() as provider:
        yield provider


def text_of(data):
    return base64.b64encode(data).decode()


def add(server, run, name="inputs/cat.png", data=PNG, **more):
    return server.request("POST", f"/api/runs/{run}/artifacts", {"name": name, "content": text_of(data), **more})


def definition(agent, attachments="${inputs.picture}", tools="[]"):
    return f"""
name: look
strict: true
inputs:
  picture: {{type: object}}
agents:
  ada:
    {agent}
    tools: {tools}
steps:
  - name: look
    agent: ada
    inputs: {{prompt: "What is it?", attachments: ["{attachments}"]}}
outputs: {{text: {{from: "${{steps.look.outputs.text}}"}}}}
"""


def scripted(*replies):
    return f"driver: script\n    options: {{replies: {json.dumps(list(replies))}}}"


def over_http(provider, format):
    return f"driver: api:custom\n    model: m1\n    options: {{base_url: {provider.base}, format: {format}, stream: false}}"


def start(home, server, yaml, data=PNG, name="inputs/cat.png"):
    run = new_id()
    picture = add(server, run, name, data).body
    assert server.start(home.define(yaml), {"picture": picture}, run).status == 202
    return server.finish(run), server.events(run), picture


def media_in(format, body):
    """Kind and base64 of every picture and recording of a request."""
    found = []

    def look(part):
        if isinstance(part, list):
            for item in part:
                look(item)
        if not isinstance(part, dict):
            return
        if part.get("type") == "image_url":
            found.append(("image", part["image_url"]["url"].split(",")[1]))
        elif part.get("type") == "input_image":
            found.append(("image", part["image_url"].split(",")[1]))
        elif part.get("type") == "image":
            found.append(("image", part["source"]["data"]))
        elif part.get("type") == "input_audio":
            found.append(("audio", part["input_audio"]["data"]))
        else:
            for value in part.values():
                look(value)
    look(body["input"] if format == "responses" else body["messages"])
    return found


# ---- from a definition -------------------------------------------------------------------------


@pytest.mark.parametrize("tools", ["[]", "[echo]"])
@pytest.mark.parametrize("format", FORMATS)
def test_a_picture_of_the_inputs_reaches_the_model(home, server, provider, format, tools):
    provider.always(text="A cat.")
    result, events, picture = start(home, server, definition(over_http(provider, format), tools=tools))
    assert result["outputs"] == {"text": "A cat."}, events
    assert [media_in(format, request["body"]) for request in provider.requests] == [[("image", text_of(PNG))]]
    recorded = json.dumps(events)
    assert text_of(PNG) not in recorded and picture["sha256"] in recorded  # by hash, never as bytes


@pytest.mark.parametrize("format", ["chat", "responses"])
def test_a_recording_reaches_a_model_that_listens(home, server, provider, format):
    provider.always(text="Silence.")
    result, _, _ = start(home, server, definition(over_http(provider, format)), data=WAV, name="inputs/a.wav")
    assert result["outputs"] == {"text": "Silence."}
    assert media_in(format, provider.requests[0]["body"]) == [("audio", text_of(WAV))]


def test_a_model_that_takes_no_audio_says_so(home, server, provider):
    provider.always(text="never asked")
    result, events, _ = start(home, server, definition(over_http(provider, "messages")), data=WAV, name="inputs/a.wav")
    fault = [event for event in events if event["type"] == "turn.finished"][0]["data"]["fault"]
    assert result["status"] == "failed" and fault["code"] == "invalid"
    assert fault["text"].startswith("custom m1, turn 1: ") and "takes no audio" in fault["text"]
    assert provider.requests == []


@pytest.mark.parametrize("given, says", [
    ("cat.png", "item 1 of the input attachments"),
    ({"name": "a.txt", "version": 1, "sha256": "0" * 64, "size": 4, "media_type": "text/plain"}, "/media_type"),
    ({"name": "a.png", "version": 1, "sha256": "0" * 64, "size": 9999999, "media_type": "image/png"}, "/size"),
])
def test_an_input_that_is_no_attachment_fails_the_step(home, server, given, says):
    yaml = definition(scripted({"text": "never"})).replace("picture: {type: object}", "picture: {required: false}").replace('["${inputs.picture}"]', json.dumps([given]))
    run = server.run_of(home.define(yaml))
    result = server.finish(run)
    assert result["status"] == "failed" and says in json.dumps(server.events(run))


def test_a_missing_content_fails_the_turn_with_the_name(home, server):
    lost = {"name": "gone.png", "version": 1, "sha256": "0" * 64, "size": 4, "media_type": "image/png"}
    run = server.run_of(home.define(definition(scripted({"text": "never"}))), {"picture": lost})
    assert server.finish(run)["status"] == "failed"
    assert "artifact gone.png is missing" in json.dumps(server.events(run))


def test_attachments_survive_a_kill(home):
    """The turn is asked again with the same picture, read again."""
    server = home.serve(BATON_POINTS="attachments.before_read=kill@1")
    run = new_id()
    picture = add(server, run).body
    yaml = definition(scripted({"parts": 1, "text": "I see."}, {"text": "I see nothing."}))
    server.start(home.define(yaml), {"picture": picture}, run)
    server.wait()
    server = home.serve()
    assert server.finish(run)["outputs"] == {"text": "I see."}
    types = server.types(run)
    assert types.count("tool.restarted") == 1 and types.count("turn.finished") == 1


# ---- files for a run -----------------------------------------------------------------------------


def test_files_are_added_to_a_run_before_it_starts(home, server):
    run = new_id()
    first = add(server, run)
    assert first.status == 201
    assert {key: first.body[key] for key in ("name", "version", "size", "media_type", "sha256")} == {
        "name": "inputs/cat.png", "version": 1, "size": len(PNG), "media_type": "image/png", "sha256": hashlib.sha256(PNG).hexdigest()}
    assert add(server, run).body == first.body  # the same again is the same version
    assert add(server, run, data=WAV).body["version"] == 2
    assert add(server, run, name="notes", data=b"abc").body["media_type"] == "application/octet-stream"
    assert add(server, run, name="../x").status == 422
    assert server.request("POST", f"/api/runs/{run}/artifacts", {"name": "x", "content": "no base64!"}).status == 422


def test_the_command_line_attaches_files(home, server, provider, tmp_path):
    file = tmp_path / "a cat.png"
    file.write_bytes(PNG)
    provider.always(text="A cat.")
    agent = {"name": "ada", "role": "looks", "system_prompt": "Look.", "driver": "api:custom", "llm_config": {"model": "m1"},
             "options": {"base_url": provider.base, "format": "chat", "stream": False}}
    assert server.request("POST", "/api/agents", agent).status == 201
    status, out, errors = home.cli("agent", "run", "ada", "--task", "What is it?", "--image", str(file))
    assert status == 0 and "A cat." in out, errors
    assert media_in("chat", provider.requests[0]["body"]) == [("image", text_of(PNG))]
    (tmp_path / "notes.txt").write_text("no picture")
    status, _, errors = home.cli("agent", "run", "ada", "--task", "x", "--attach", str(tmp_path / "notes.txt"))
    assert status != 0 and "no PNG, JPEG, GIF or WebP" in errors
    (tmp_path / "big").write_bytes(bytes(1500001))
    status, _, errors = home.cli("agent", "run", "ada", "--task", "x", "--attach", str(tmp_path / "big"))
    assert status != 0 and "1500000 bytes" in errors


def test_a_file_becomes_an_input(home, server, tmp_path):
    (tmp_path / "cat.png").write_bytes(PNG)
    flow = tmp_path / "look.yaml"
    flow.write_text(definition(scripted({"parts": 1, "text": "I see."}, {"text": "I see nothing."})))
    status, out, errors = home.cli("run", str(flow), "--input-file", f"picture={tmp_path / 'cat.png'}", "--json")
    assert status == 0 and json.loads(out)["outputs"] == {"text": "I see."}, errors
    assert "NAME=FILE" in home.cli("run", str(flow), "--input-file", "cat.png")[2]


def test_a_message_of_a_chat_has_a_picture(home, server):
    replies = [{"parts": 1, "text": "A cat."}, {"contains": "And now?", "text": "Still a cat."}, {"text": "Nothing."}]
    agent = {"name": "ada", "role": "looks", "system_prompt": "Look.", "driver": "script", "llm_config": {"model": "m1"}, "options": {"replies": replies}}
    assert server.request("POST", "/api/agents", agent).status == 201
    run = server.request("POST", "/api/agentic", {"agent": "ada", "chat": True}).body["run_id"]
    picture = add(server, run).body
    server.tell(run, "signal", name="message", data={"role": "user", "content": "What is it?", "attachments": [picture]})
    server.until(run, "turn.finished")
    server.tell(run, "signal", name="message", data={"end": True})
    server.finish(run)
    talk = server.get(f"/api/runs/{run}/conversation").body["talks"][0]
    assert talk["turns"][0]["text"] == "A cat."
    assert [one["sha256"] for one in talk["messages"][-1]["attachments"]] == [picture["sha256"]]
    refused = server.request("POST", "/api/agentic", {"agent": "ada", "chat": True, "goal": "x", "attachments": [picture]})
    assert refused.status == 422 and "message" in json.dumps(refused.body)


# ---- from a tool -----------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_a_tool_shows_a_picture_to_the_model(home, server, provider, format):
    provider.then(calls=[("c1", "shell", json.dumps({"command": f"echo {text_of(PNG)} | base64 -d > plot.png"})), ("c2", "view_file", '{"path": "plot.png"}')])
    provider.then(calls=[("c3", "view_file", '{"path": "none.png"}')])
    provider.then(text="A plot.")
    yaml = definition(over_http(provider, format), tools="[shell, view_file]").replace(', attachments: ["${inputs.picture}"]', "").replace("picture: {type: object}", "picture: {required: false}")
    run = server.run_of(home.define(yaml))
    assert server.finish(run)["outputs"] == {"text": "A plot."}
    assert [len(media_in(format, request["body"])) for request in provider.requests] == [0, 1, 1]
    steps = [event for event in server.events(run) if event["type"] == "step.entered"]
    assert [event["data"].get("attachments") for event in steps] == [None, 1, 1]
    shown = server.get(f"/api/runs/{run}/conversation").body["talks"][0]["turns"][0]["calls"][1]
    assert [one["media_type"] for one in shown["attachments"]] == ["image/png"]
    history = server.get(f"/api/runs/{run}/conversation?view=task").body
    images = [part for step in history for part in step["parts"] if part["type"] == "image"]
    assert len(images) == 1 and images[0]["image_url"].startswith(f"/api/runs/{run}/artifacts/seen/") and images[0]["format"] == "png"


def test_a_file_that_is_no_picture_is_refused_by_its_bytes(home, server):
    replies = [{"turn": 1, "calls": [{"name": "shell", "arguments": {"command": "echo text > a.png"}}, {"name": "view_file", "arguments": {"path": "a.png"}}]},
               {"turn": 2, "contains": "is no PNG, JPEG, GIF or WebP picture", "text": "I see."}, {"text": "?"}]
    yaml = definition(scripted(*replies), tools="[shell, view_file]").replace(', attachments: ["${inputs.picture}"]', "").replace("picture: {type: object}", "picture: {required: false}")
    assert server.finish(server.run_of(home.define(yaml)))["outputs"] == {"text": "I see."}
