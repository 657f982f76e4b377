"""Agents take turns: what they say, what they cost, how they fail, and what a crash leaves of them.

Every agent here is driven by a script in its definition, so the same turn gets the same reply in
whichever process it is asked."""
import json
import os
import signal

import pytest
from baton import ROOT, new_id, wait_until


def definition(replies, step="", outputs="", name="turns"):
    """One agent with these replies and one step that asks it."""
    return f"""
name: {name}
inputs:
  about: {{type: string, default: weather}}
agents:
  ada:
    driver: script
    model: play
    system: Be brief.
    options: {{replies: {json.dumps(replies)}}}
steps:
  - name: say
    agent: ada
    inputs: {{prompt: "Speak of ${{inputs.about}}."}}
    {step}
outputs: {{text: {{from: "${{steps.say.outputs.text}}", optional: true}}{outputs}}}
"""


def ended(home, server, yaml, inputs=None):
    """The run's result and its events once it is over."""
    run = server.run_of(home.define(yaml), inputs)
    result = server.finish(run)
    return result, server.events(run)


def of(events, type):
    return [event["data"] for event in events if event["type"] == type]


def begun(server, run):
    """The turn is requested, and under way."""
    requested = server.until(run, "turn.requested")
    wait_until(lambda: server.figures()["baton_turns_open"] == 1)
    return requested["data"]


def value(data):
    return data["is"]


# ---- replies ---------------------------------------------------------------------------------


def test_a_turn_is_recorded_with_its_request_and_its_usage(home, server):
    reply = {"text": "It rains.", "usage": {"input_tokens": 12, "output_tokens": 3, "cost_usd": 0.25}}
    result, events = ended(home, server, definition([reply]))
    assert result["status"] == "success" and result["outputs"] == {"text": "It rains."}
    assert [event["type"] for event in events] == ["run.created", "turn.requested", "turn.finished", "run.finished"]
    (requested,), (finished,) = of(events, "turn.requested"), of(events, "turn.finished")
    assert (requested["driver"], requested["model"], requested["step"]) == ("script", "play", "say")
    assert value(requested["request"]) == {
        "system": "Be brief.", "messages": [{"role": "user", "content": "Speak of weather."}],
        "options": {"replies": [reply]}}
    assert finished["outcome"] == "ok" and finished["effect"] == requested["effect"]
    assert value(finished["output"]) == {"text": "It rains."}
    assert finished["usage"] == {"input_tokens": 12, "output_tokens": 3, "cache_read_tokens": 0,
                                 "cache_creation_tokens": 0, "cost_usd": 0.25, "cost": 250_000_000_000, "provider": "script", "model": "play"}


@pytest.mark.parametrize("reply", [{"json": {"files": ["a", "b"]}}, {"text": '```json\n{"files": ["a", "b"]}\n```'}])
def test_a_reply_in_json_can_be_read_into(home, server, reply):
    yaml = definition([reply], outputs=', second: {from: "${steps.say.outputs.json.files[1]}"}')
    result, events = ended(home, server, yaml)
    assert result["outputs"]["second"] == "b"
    assert value(of(events, "turn.finished")[0]["output"])["json"] == {"files": ["a", "b"]}


def test_the_reply_depends_on_the_prompt(home, server):
    yaml = definition([{"contains": "weather", "text": "rain"}, {"contains": "roads", "text": "mud"}])
    assert ended(home, server, yaml)[0]["outputs"] == {"text": "rain"}
    assert ended(home, server, yaml, {"about": "roads"})[0]["outputs"] == {"text": "mud"}
    result, events = ended(home, server, yaml, {"about": "crops"})
    assert result["status"] == "failed"
    fault = of(events, "turn.finished")[0]["fault"]
    assert fault["code"] == "invalid" and "no reply for step say, round 1, turn 1, attempt 1" in fault["text"]


def test_a_long_request_is_asked_whole(home, server):
    """Beyond 256 bytes a request is stored by its hash and read again before it is asked."""
    about = "x" * 100000 + "END"
    yaml = definition([{"contains": "xEND.", "text": "all of it"}, {"text": "not all of it"}])
    result, events = ended(home, server, yaml, {"about": about})
    assert result["outputs"] == {"text": "all of it"}
    assert "sha256" in of(events, "turn.requested")[0]["request"]


def test_a_step_is_asked_again_until_it_is_good(home, server):
    replies = [{"round": n, "json": {"draft": n, "good": n == 3}} for n in (1, 2, 3)] + [{"text": "too far"}]
    step = "loop_until: steps.say.outputs.json.good\n    loop_max: 5"
    yaml = definition(replies, step, ', draft: {from: "${steps.say.outputs.json.draft}"}')
    result, events = ended(home, server, yaml)
    assert result["outputs"]["draft"] == 3
    assert [data["step"] for data in of(events, "turn.finished")] == ["say", "say#2", "say#3"]


def test_each_item_of_a_list_is_asked_for(home, server):
    home.define("""
name: many
agents:
  ada:
    driver: script
    options:
      replies:
        - {step: "each[1]/say", text: second}
        - {contains: c, text: has c}
        - {text: other}
steps:
  - name: each
    map:
      over: [a, b, c]
      steps: [{name: say, agent: ada, inputs: {prompt: "${item}"}}]
outputs: {said: {from: "${steps.each.outputs}"}}
""")
    answer = server.start("many", wait=True)
    assert [said["text"] for said in answer.body["outputs"]["said"]] == ["other", "second", "has c"]


def test_the_example(home):
    status, output, errors = home.cli("run", "write-and-review")
    assert status == 0, errors
    assert json.loads(output)["review"] == {"approved": True, "missing": []}
    assert home.cli("run", str(ROOT / "examples" / "write-and-review.yaml"))[0] == 0


def test_the_example_of_the_page_on_agents(home, server):
    yaml = (ROOT / "docs" / "agents.md").read_text().split("```yaml\n")[1].split("```")[0]
    assert ended(home, server, yaml)[0]["outputs"] == {"said": "Good morning, Grace."}
    assert ended(home, server, yaml, {"who": "Ada"})[0]["outputs"] == {"said": "Hello."}


# ---- failures --------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["rate_limited", "overloaded", "unavailable"])
def test_what_may_pass_is_tried_again(home, server, code):
    replies = [{"attempt": 1, "fail": {"code": code}, "usage": {"input_tokens": 2}},
               {"attempt": 2, "fail": {"code": code}}, {"text": "at last"}]
    result, events = ended(home, server, definition(replies, "retry: {max_retries: 3, base_delay: 0}"))
    assert result["outputs"] == {"text": "at last"}
    requested, finished = of(events, "turn.requested"), of(events, "turn.finished")
    assert [data.get("attempt", 1) for data in requested] == [1, 2, 3]
    assert len({data["effect"] for data in requested}) == 1
    assert [data.get("fault", {}).get("code") for data in finished] == [code, code, None]
    assert finished[0]["usage"]["input_tokens"] == 2 and "usage" not in finished[1]


@pytest.mark.parametrize("code", ["invalid", "unauthenticated", "too_large", "timeout"])
def test_what_will_not_pass_is_not(home, server, code):
    replies = [{"attempt": 1, "fail": {"code": code, "text": "no use"}}, {"text": "never said"}]
    result, events = ended(home, server, definition(replies, "retry: {max_retries: 3, base_delay: 0}"))
    assert result["status"] == "failed" and len(of(events, "turn.requested")) == 1
    assert of(events, "turn.finished")[0]["fault"] == {"code": code, "text": "no use"}


def test_a_definition_says_what_is_worth_another_try(home, server):
    replies = [{"attempt": 1, "fail": {"code": "timeout"}}, {"attempt": 2, "fail": {"code": "rate_limited"}},
               {"text": "never said"}]
    result, events = ended(home, server, definition(replies, "retry: {max_retries: 3, base_delay: 0, on: [timeout]}"))
    assert result["status"] == "failed"
    assert [data["fault"]["code"] for data in of(events, "turn.finished")] == ["timeout", "rate_limited"]


def test_a_turn_that_takes_too_long_is_stopped(home, server):
    result, events = ended(home, server, definition([{"hang": True}], "timeout: 0.05"))
    assert result["status"] == "failed"
    (finished,) = of(events, "turn.finished")
    assert finished["fault"]["code"] == "timeout" and "output" not in finished
    assert server.figures()["baton_turns_open"] == 0


def test_a_turn_may_take_its_time(home, server):
    result, _ = ended(home, server, definition([{"text": "slowly", "after_ms": 30}], "timeout: 30"))
    assert result["outputs"] == {"text": "slowly"}


def refused(home, text, code="invalid"):
    """What is wrong with the definition, or with the configuration."""
    answer = home.local("POST", "/api/run", {"workflow": "w", "yaml_content": text, "inputs": {}})
    assert (answer.status, answer.body["code"]) == (422, code), answer
    return answer.body["details"]


@pytest.mark.parametrize("change, pointer, says", [
    ({"driver": "oracle"}, "/agents/ada/driver", "unknown driver oracle; expected one of script"),
    ({"options": {}}, "/agents/ada/options/replies", ""),
    ({"options": {"replies": [{"json": {}, "hang": True}]}}, "/agents/ada/options/replies/0",
     "exactly one of text, json, fail and hang"),
    ({"options": {"replies": [{"fail": {"code": "tired"}}]}}, "/agents/ada/options/replies/0/fail/code", ""),
    ({"options": {"replies": [{"text": "a", "afterms": 1}]}}, "/agents/ada/options/replies/0/afterms", "after_ms"),
])
def test_an_agent_that_cannot_be_is_refused_with_its_place(home, server, change, pointer, says):
    agent = {"driver": "script", "options": {"replies": [{"text": "a"}]}, **change}
    text = json.dumps({"name": "w", "agents": {"ada": agent}, "steps": [{"name": "say", "agent": "ada"}]})
    (problem,) = refused(home, text)
    assert problem["pointer"] == pointer and says in problem["text"] and problem["line"] == 1


def test_an_agent_that_is_not_there_is_refused(home, server):
    text = "name: w\nagents: {ada: {driver: script, options: {replies: [{text: a}]}}}\n" \
           "steps:\n  - name: say\n    agent: eve\n"
    (problem,) = refused(home, text)
    assert (problem["pointer"], problem["line"]) == ("/steps/0/agent", 5)
    assert "agent eve does not exist: add it to `agents` of the file (now: ada)" in problem["text"]


# ---- agents of the registry ------------------------------------------------------------------

REGISTERED = """
name: registered
steps: [{name: say, agent: ada, inputs: {prompt: hello}}]
outputs: {text: {from: "${steps.say.outputs.text}"}}
"""


def register(server, replies, method="POST", **more):
    agent = {"name": "ada", "role": "speaks", "system_prompt": "Be brief.", "driver": "script",
             "llm_config": {"model": "play"}, "options": {"replies": replies}, **more}
    answer = server.request(method, "/api/agents" if method == "POST" else "/api/agents/ada", agent)
    assert answer.status in (200, 201), answer


def test_a_step_names_an_agent_of_the_registry(home, server):
    assert "agent ada does not exist" in refused(home, REGISTERED.replace("registered", "w"))[0]["text"]
    register(server, [{"text": "from the registry"}])
    result, events = ended(home, server, REGISTERED)
    assert result["outputs"] == {"text": "from the registry"}
    (requested,) = of(events, "turn.requested")
    assert requested["model"] == "play" and value(requested["request"])["system"] == "Be brief."


def test_a_changed_agent_reaches_the_next_run_only(home):
    server = home.serve()
    register(server, [{"attempt": 1, "hang": True}, {"text": "as it was"}])
    home.define(REGISTERED)
    run = server.run_of("registered")
    begun(server, run)
    register(server, [{"text": "as it is"}], "PUT")
    assert server.start("registered", wait=True).body["outputs"] == {"text": "as it is"}
    server.kill()
    server = home.serve()
    assert server.finish(run)["outputs"] == {"text": "as it was"}


def test_the_definitions_own_agent_goes_before_the_registrys(home, server):
    register(server, [{"text": "from the registry"}])
    assert ended(home, server, definition([{"text": "its own"}]))[0]["outputs"] == {"text": "its own"}


def test_a_registered_agent_that_nobody_can_drive(home, server):
    register(server, [{"text": "a"}], driver="codex")
    (problem,) = refused(home, REGISTERED.replace("registered", "w"), "configuration")
    assert problem["pointer"] == ""
    assert "agent ada (registry): driver: unknown driver codex" in problem["text"]
    register(server, [], "PUT", driver="replay", options={})
    assert "options.cassette" in refused(home, REGISTERED.replace("registered", "w"), "configuration")[0]["text"]


def test_a_registered_script_as_an_agent_of_a_profile(server):
    register(server, [{"text": "a"}])
    assert server.request("POST", "/api/profiles", {"name": "work", "repo_root": "/srv/work"}).status == 201
    answer = server.get("/api/profiles/work/agents/ada")
    assert (answer.status, answer.body["driver"], answer.body["profile_name"]) == (200, "script", "work")


def test_a_registered_agents_own_time(home, server):
    register(server, [{"hang": True}], timeout_seconds=0.05)
    result, events = ended(home, server, REGISTERED)
    assert result["status"] == "failed" and of(events, "turn.finished")[0]["fault"]["code"] == "timeout"


# ---- crashes and stops -----------------------------------------------------------------------


def test_a_turn_that_was_killed_is_asked_again(home):
    server = home.serve()
    replies = [{"attempt": 1, "hang": True}, {"attempt": 2, "hang": True},
               {"contains": "weather", "text": "third time", "usage": {"input_tokens": 9}}]
    run = server.run_of(home.define(definition(replies)))
    first = begun(server, run)
    assert server.kill() == -signal.SIGKILL
    server = home.serve()
    begun(server, run)
    assert server.kill() == -signal.SIGKILL
    server = home.serve()
    assert server.finish(run)["outputs"] == {"text": "third time"}
    events = server.events(run)
    assert of(events, "turn.requested") == [first]
    assert [(data["step"], data["attempt"], data["effect"]) for data in of(events, "tool.restarted")] == \
        [("say", 2, first["effect"]), ("say", 3, first["effect"])]
    assert [(data["outcome"], data["usage"]["input_tokens"]) for data in of(events, "turn.finished")] == [("ok", 9)]


def test_a_restart_uses_up_no_retry(home):
    server = home.serve()
    replies = [{"attempt": 1, "hang": True}, {"attempt": 2, "fail": {"code": "overloaded"}}, {"text": "retried"}]
    run = server.run_of(home.define(definition(replies, "retry: {max_retries: 1, base_delay: 0}")))
    begun(server, run)
    server.kill()
    server = home.serve()
    assert server.finish(run)["outputs"] == {"text": "retried"}
    assert [data.get("attempt", 1) for data in of(server.events(run), "turn.requested")] == [1, 3]


def test_a_deadline_that_passes_while_nobody_is_there(home):
    server = home.serve()
    run = server.run_of(home.define(definition([{"hang": True}], "timeout: 0.5")))
    server.until(run, "turn.requested")
    server.kill()
    server = home.serve()
    assert server.finish(run)["status"] == "failed"
    (finished,) = of(server.events(run), "turn.finished")
    assert finished["fault"]["code"] == "timeout"


def test_a_run_that_is_called_off_ends_its_turn(home, server):
    run = server.run_of(home.define(definition([{"hang": True}], "retry: {max_retries: 3, base_delay: 0}")))
    begun(server, run)
    assert server.request("POST", f"/api/runs/{run}/cancel", {}).status == 200
    server.follow(run)
    events = server.events(run)
    assert [data["outcome"] for data in of(events, "turn.finished")] == ["cancelled"]
    assert of(events, "run.finished")[0]["outcome"] == "cancelled"
    assert server.figures()["baton_turns_open"] == 0


def test_a_turn_that_outlasts_a_stop_is_asked_again(home):
    server = home.serve(BATON_SERVE_DRAIN_SECONDS="1")
    run = server.run_of(home.define(definition([{"attempt": 1, "hang": True}, {"text": "again"}])))
    begun(server, run)
    os.kill(server.pid, signal.SIGTERM)
    assert server.wait() == 0
    assert "1 agent turn did not finish in time; the next start repeats" in server.errors()
    server = home.serve()
    assert server.finish(run)["outputs"] == {"text": "again"}


def test_a_stop_waits_for_the_reply(home):
    server = home.serve(BATON_SERVE_DRAIN_SECONDS="30")
    run = server.run_of(home.define(definition([{"attempt": 1, "after_ms": 500, "text": "in time"}, {"text": "again"}])))
    begun(server, run)
    os.kill(server.pid, signal.SIGTERM)
    assert server.wait() == 0
    server = home.serve()
    assert server.finish(run)["outputs"] == {"text": "in time"}
    assert of(server.events(run), "tool.restarted") == []


def test_a_run_goes_on_with_the_agent_it_began_with(home):
    server = home.serve()
    first = definition([{"attempt": 1, "hang": True}, {"text": "the old one"}])
    run = server.run_of(home.define(first))
    begun(server, run)
    server.kill()
    home.define(definition([{"text": "the new one"}]))
    server = home.serve()
    assert server.finish(run)["outputs"] == {"text": "the old one"}
    assert server.start("turns", run_id=new_id(), wait=True).body["outputs"] == {"text": "the new one"}
