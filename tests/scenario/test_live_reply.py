"""Replies while a model writes them: chunks on the run's stream and on the task vocabulary's WebSockets."""
import json

from baton import new_id, wait_until
from test_websocket import Client

TALK = """
name: talk
agents:
  ada:
    driver: script
    system: You talk.
    options:
      replies: %s
steps:
  - name: say
    agent: ada
    inputs: {prompt: "Talk."}
    retry: {max_retries: 3, base_delay: 0.01}
"""


def talk(home, server, *replies):
    home.define(TALK % json.dumps(list(replies)))
    return server.run_of("talk")


def is_chunk(event):
    return "delta" in event


def join(chunks, part="text"):
    """The text of a part; every chunk continues the one before."""
    text = b""
    for chunk in chunks:
        if chunk["part"] == part:
            assert chunk["offset"] == len(text)
            text += chunk["delta"].encode()
    return text.decode()


def read_until(stream, text, part="text"):
    """Chunks from an open stream until their text is complete, and the events before them."""
    chunks, events = [], []
    for told in stream:
        (chunks if is_chunk(told.event) else events).append(told.event)
        if join(chunks, part) == text:
            return chunks, events
    raise AssertionError(f"the stream ended: {chunks}")


def test_a_listener_gets_the_reply_while_it_is_written(home, server):
    run = talk(home, server, {"text": "Hello, wörld.", "thinking": "Hm.", "pieces": 5, "hang": True})
    with server.stream(f"/api/runs/{run}/stream?chunks=1&after=0") as stream:
        chunks, events = read_until(stream, "Hello, wörld.")
    assert [event["type"] for event in events][-1] == "turn.requested"
    effect = events[-1]["data"]["effect"]
    assert join(chunks, "thinking") == "Hm."
    assert chunks[0]["part"] == "thinking"
    for chunk in chunks:
        assert (chunk["run_id"], chunk["step"], chunk["agent"], chunk["turn"], chunk["attempt"]) == (
            run, "say", "ada", effect, 1)
        assert "truncated" not in chunk
    server.tell(run, "cancel")


def test_a_late_listener_gets_the_text_so_far(home, server):
    run = talk(home, server, {"text": "Everything so far.", "pieces": 9, "hang": True})
    with server.stream(f"/api/runs/{run}/stream?chunks&after=0") as first:
        read_until(first, "Everything so far.")
        with server.stream(f"/api/runs/{run}/stream?chunks=true") as late:
            chunks, events = read_until(late, "Everything so far.")
            assert [chunk["offset"] for chunk in chunks] == [0]
            assert [event["type"] for event in events][-1] == "turn.requested"
    server.tell(run, "cancel")


def test_chunks_have_no_id_and_a_client_resumes_by_its_last_event(home, server):
    run = talk(home, server, {"text": "Stalled.", "hang": True})
    with server.stream(f"/api/runs/{run}/stream?chunks=1&after=0") as stream:
        ids = set()
        for told in stream:
            ids.add((told.id, is_chunk(told.event)))
            if is_chunk(told.event):
                break
    last = max(int(number) for number, chunk in ids if not chunk)
    assert (str(last), True) in ids  # the id stays in force: a chunk has none of its own
    with server.stream(f"/api/runs/{run}/stream?chunks=1", last=last) as again:
        chunks, events = read_until(again, "Stalled.")
        assert events == [] and chunks[0]["offset"] == 0
    server.tell(run, "cancel")


def test_the_finished_turn_replaces_the_chunks(home, server):
    run = talk(home, server, {"text": "One two three.", "pieces": 3, "every_ms": 200})
    with server.stream(f"/api/runs/{run}/stream?chunks=1&after=0") as stream:
        told = [one.event for one in stream]
    kinds = ["chunk" if is_chunk(event) else event["type"] for event in told]
    finished = kinds.index("turn.finished")
    assert "chunk" not in kinds[:kinds.index("turn.requested")] and "chunk" not in kinds[finished:]
    assert told[finished]["data"]["output"]["is"]["text"] == "One two three."
    assert "One two three.".startswith(join([event for event in told if is_chunk(event)]))
    assert kinds[-1] == "run.finished"
    with server.stream(f"/api/runs/{run}/stream?chunks=1&after=0") as after:
        assert not any(is_chunk(one.event) for one in after)


def test_a_new_attempt_starts_at_0(home, server):
    run = talk(home, server, {"attempt": 1, "text": "Broken off.", "pieces": 2, "fail": {"code": "unavailable"}},
               {"text": "Complete.", "hang": True})
    with server.stream(f"/api/runs/{run}/stream?chunks=1&after=0") as stream:
        for told in stream:
            if is_chunk(told.event) and told.event["attempt"] == 2:
                break
    assert (told.event["offset"], told.event["delta"]) == (0, "Complete.")
    server.tell(run, "cancel")


def test_a_stream_without_chunks_has_none(home, server):
    run = talk(home, server, {"text": "One two three.", "pieces": 3})
    assert not any(is_chunk(event) for event in server.follow(run))
    refused = server.get(f"/api/runs/{run}/stream?chunks=perhaps")
    assert refused.status == 400 and "?chunks= must be true or false" in refused.body["detail"]


def test_a_long_reply_is_truncated_and_the_event_has_all_of_it(home, server):
    long = "ö" * 131073  # two bytes more than the limit
    run = talk(home, server, {"text": long, "pieces": 7, "hang": True})
    with server.stream(f"/api/runs/{run}/stream?chunks=1&after=0") as stream:
        chunks = []
        for told in stream:
            if is_chunk(told.event):
                chunks.append(told.event)
                if told.event.get("truncated"):
                    break
    assert join(chunks) == "ö" * 131072
    server.tell(run, "cancel")


# ---- the task vocabulary's two channels ----------------------------------------------------------


def content(client, text):
    """Messages of type content_chunk until their text is complete."""
    seen = []
    while "".join(one["text"] for one in seen) != text:
        message = client.hear()
        assert message is not None, seen
        if message["type"] == "content_chunk":
            seen.append(message)
    return seen


def test_the_content_channel_has_the_text_and_says_when_it_ends(home, server):
    run = talk(home, server, {"text": "To be sent.", "thinking": "Not to be sent.", "pieces": 4, "hang": True})
    with Client(server, f"/tasks/{run}/content") as client:
        chunks = content(client, "To be sent.")
        assert {(one["agent_name"], one["is_final"]) for one in chunks} == {("ada", False)}
        steps = server.get(f"/api/runs/{run}?view=task").body
        assert steps["task_id"] == run
        server.tell(run, "cancel")
        last = client.hear()
        assert (last["text"], last["is_final"], last["step_id"]) == ("", True, chunks[0]["step_id"])
        assert client.hear() is None and client.code == 1000


def test_the_events_channel_has_no_chunks_and_the_stream_has_both(home, server):
    run = talk(home, server, {"text": "Both.", "hang": True})
    with Client(server, f"/tasks/{run}/stream") as both, Client(server, f"/tasks/{run}/events") as events:
        content(both, "Both.")
        server.tell(run, "cancel")
        rest, only = both.all(), events.all()
        assert not any(one["type"] == "content_chunk" for one in only)
        assert [one["type"] for one in rest if one["type"] == "content_chunk"] == ["content_chunk"]
        assert only[-1]["type"] == rest[-1]["type"] == "event_task_complete"


# ---- the reply of a turn, and the conversation of a run ------------------------------------------


def reply(server, run, step="say"):
    answer = server.get(f"/api/runs/{run}/steps/{step}/reply")
    assert answer.status == 200, answer
    return answer.body


def test_the_reply_is_read_while_it_is_written_and_ever_after(home, server):
    run = talk(home, server, {"attempt": 1, "text": "Half of it", "thinking": "Hm.", "hang": True},
               {"text": "All of it.", "usage": {"input_tokens": 7, "output_tokens": 3}})
    wait_until(lambda: reply(server, run)["text"] == "Half of it")
    now = reply(server, run)
    assert (now["live"], now["state"], now["thinking"], now["attempt"]) == (True, "running", "Hm.", 1)
    server.kill()  # the turn is asked again
    server = home.serve()
    server.finish(run)
    after = reply(server, run)
    assert (after["live"], after["state"], after["text"], after["attempt"]) == (False, "succeeded", "All of it.", 2)
    assert after["usage"]["output_tokens"] == 3 and "thinking" not in after


def test_what_has_no_reply(home, server):
    home.define("name: plain\nsteps:\n  - name: echo\n    tool: echo\n    inputs: {text: hi}\n")
    run = server.start("plain", wait=True).body["run_id"]
    for target, says in ((f"/api/runs/{run}/steps/echo/reply", "no agent has taken a turn in it"),
                         (f"/api/runs/{run}/steps/nothing/reply", "the run has no step nothing"),
                         (f"/api/runs/{new_id()}/steps/echo/reply", "no run"),
                         (f"/api/runs/{new_id()}/conversation", "no run")):
        answer = server.get(target)
        assert answer.status == 404 and says in answer.body["detail"], answer
    assert server.get(f"/api/runs/{run}/conversation").body["talks"] == []


def test_the_conversation_of_a_run(home, server):
    usage = {"input_tokens": 10, "output_tokens": 4, "cost_usd": 0.25}
    home.define(f"""
name: two
agents:
  ada:
    driver: script
    model: m-1
    system: You draft.
    options: {{replies: [{{attempt: 1, fail: {{code: overloaded}}, usage: {json.dumps(usage)}}},
                         {{text: A draft., thinking: Let me see., usage: {json.dumps(usage)}}}]}}
  bob:
    driver: script
    system: You review.
    options: {{replies: [{{text: Good.}}]}}
steps:
  - {{name: draft, agent: ada, inputs: {{prompt: Draft it.}}, retry: {{max_retries: 1, base_delay: 0.01}}}}
  - {{name: review, agent: bob, depends_on: [draft], inputs: {{prompt: "${{steps.draft.outputs.text}}"}}}}
""")
    run = server.start("two", wait=True).body["run_id"]
    read = server.get(f"/api/runs/{run}/conversation").body
    assert (read["run_id"], read["workflow"], read["state"]) == (run, "two", "succeeded")
    draft, review = read["talks"]
    assert (draft["step"], draft["agent"], draft["model"], draft["system"]) == ("draft", "ada", "m-1", "You draft.")
    assert [(one["role"], one["content"]) for one in draft["messages"]] == [("user", "Draft it.")]
    (turn,) = draft["turns"]
    assert (turn["text"], turn["thinking"], turn["attempt"], turn["live"]) == ("A draft.", "Let me see.", 2, False)
    assert review["messages"][0]["content"] == "A draft." and review["turns"][0]["text"] == "Good."
    assert draft["usage"] == read["usage"] == {"turns": 2, "input_tokens": 20, "output_tokens": 8,
                                               "cache_read_tokens": 0, "cache_creation_tokens": 0, "cost_usd": 0.5}
    assert "usage" not in review
    server.kill()
    assert home.serve().get(f"/api/runs/{run}/conversation").body == read


def test_every_round_is_a_talk_of_its_own(home, server):
    home.define("""
name: many
agents:
  ada:
    driver: script
    options: {replies: [{text: "again"}]}
steps:
  - {name: say, agent: ada, inputs: {prompt: "x"}, loop_until: "false", loop_max: 3}
""")
    run = server.start("many", wait=True).body["run_id"]
    talks = server.get(f"/api/runs/{run}/conversation").body["talks"]
    assert [(one["step"], len(one["turns"])) for one in talks] == [("say", 1), ("say#2", 1), ("say#3", 1)]
