"""Where an agent's configuration comes from: definition, profile, registry, defaults; what refuses a start."""
import json

import pytest
from fake_provider import FakeProvider
from test_agents import create

KEYS = {"BATON_SECRETS_ALLOW": "CANARY_KEY", "CANARY_KEY": "sk-canary"}
STEP = """
name: one
steps:
  - {name: say, agent: ada, inputs: {prompt: "Speak."}}
outputs: {text: {from: "${steps.say.outputs.text}"}}
"""


@pytest.fixture
def provider():
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(name="home")
def home_with_workflow(home):
    home.define(STEP)
    return home


@pytest.fixture
def server(home):
    return home.serve(**KEYS)


@pytest.fixture(name="folder")
def repository(tmp_path):
    return str(tmp_path)


def profile(server, name, folder, **more):
    made = server.request("PUT", f"/api/profiles/{name}", {"name": name, "repo_root": folder, **more})
    assert made.status in (200, 201), made


def entry(provider, model, **more):
    options = {"base_url": provider.base, "api_key": "env:CANARY_KEY"}
    return {"ada": {"driver": "api:custom", "model": model, "options": options, **more}}


def begin(server, workflow="one", **more):
    answer = server.request("POST", "/api/run", {"workflow": workflow, **more})
    assert answer.status == 202, answer
    return answer.body["run_id"]


def models(provider):
    return [request["body"]["model"] for request in provider.requests]


def resolved(server, name="ada", query=""):
    answer = server.get(f"/api/agents/{name}/resolved{query}")
    assert answer.status == 200, answer
    return {value["name"]: (value["value"], value["origin"]) for value in answer.body["values"]}, answer.body


# ---- the profile reaches the call -----------------------------------------------------------------


def test_a_run_asks_the_model_of_its_profile(home, server, provider, folder):
    create(server, "ada", options={"replies": [{"text": "scripted"}]})
    profile(server, "play", folder)
    profile(server, "work", folder, agents=entry(provider, "worker"))
    profile(server, "night", folder, agents=entry(provider, "sleeper"))
    provider.then(text="from the profile")
    provider.then(text="from the night")
    result = server.finish(begin(server, profile="work"))
    assert result["outputs"] == {"text": "from the profile"}
    status, out, _ = home.cli("run", "one", "--profile", "night", "--json")
    assert status == 0 and json.loads(out)["outputs"] == {"text": "from the night"}
    assert models(provider) == ["worker", "sleeper"]
    assert provider.requests[0]["body"]["messages"][0]["content"] == "You review."  # the registry's prompt
    assert server.finish(begin(server))["outputs"] == {"text": "scripted"}  # play is active and has no ada


def test_agentic_takes_a_profile(home, server, provider, folder):
    profile(server, "work", folder, agents=entry(provider, "worker"))
    provider.then(text="hello")
    answer = server.request("POST", "/api/agentic", {"agent": "ada", "goal": "Greet.", "profile": "work"})
    assert answer.status == 202, answer  # the registry has no ada: the profile is enough
    assert server.finish(answer.body["run_id"])["outputs"]["text"] == "hello"
    provider.then(text="again")
    status, out, errors = home.cli("agent", "run", "ada", "--task", "Greet.", "--profile", "work")
    assert status == 0 and "again" in out, (out, errors)
    assert models(provider) == ["worker", "worker"]


WAITS = """
name: waits
steps:
  - {name: ask, human: {question: "Go on?"}}
  - {name: say, depends_on: [ask], agent: ada, inputs: {prompt: "Speak."}}
"""


def test_a_changed_profile_does_not_affect_a_run_that_has_begun(home, server, provider, folder):
    home.define(WAITS)
    profile(server, "work", folder, agents=entry(provider, "first"), retry={"max_retries": 0})
    run = begin(server, "waits")
    server.until(run, "human.requested")
    profile(server, "work", folder, agents=entry(provider, "second"))
    profile(server, "other", folder, agents=entry(provider, "third"))
    assert server.request("POST", "/api/profiles/other/activate").status == 200
    server.kill()
    server = home.serve(**KEYS)
    provider.then(status=401)
    (request,) = server.inbox()
    server.respond(request["id"])
    assert server.finish(run)["status"] == "failed"
    provider.then(text="done")
    assert server.tell(run, "retry").status == 200
    server.follow(run, last=server.events(run)[-1]["seq"] - 1)
    assert server.result(run)["status"] == "success"
    assert models(provider) == ["first", "first"]


def test_the_retry_policy_of_the_profile_is_that_of_turns(server, provider, folder):
    profile(server, "work", folder, agents=entry(provider, "m"),
            retry={"max_retries": 2, "base_delay": 0.1, "max_delay": 1.0})
    for _ in range(3):
        provider.then(status=503)
    assert server.finish(begin(server))["status"] == "failed"
    assert len(provider.requests) == 3
    profile(server, "once", folder, agents=entry(provider, "m"), retry={"max_retries": 0})


# ---- refusals --------------------------------------------------------------------------------------


def refused(server, says, workflow="one", **body):
    answer = server.request("POST", "/api/run", {"workflow": workflow, **body})
    assert (answer.status, answer.body["code"], answer.body["class"]) == (422, "configuration", "ConfigurationError"), answer
    assert all(word in answer.body["detail"] for word in says), answer.body
    assert server.get("/api/runs").body == [] and server.get("/api/events?type=run.created").body["items"] == []


def test_a_missing_key_refuses_the_start(home, server, provider, folder):
    agents = entry(provider, "m")
    agents["ada"]["options"]["api_key"] = "env:NOT_THERE"
    profile(server, "work", folder, agents=agents)
    refused(server, ["NOT_THERE", "agent ada"])
    home.define("name: outer\nsteps: [{name: inner, workflow: one}]\n")
    refused(server, ["NOT_THERE", "agent ada"], "outer")
    assert provider.requests == []


def test_a_mode_that_is_not_available_refuses_the_start(server, provider, folder):
    profile(server, "work", folder, agents=entry(provider, "m"), sandbox={"mode": "container"})
    refused(server, ["profile work", "sandbox/mode", "container is not available"])
    profile(server, "work", folder, agents=entry(provider, "m", sandbox={"mode": "container"}))
    refused(server, ["agent ada (profile work)", "sandbox.mode", "container is not available"])
    profile(server, "work", folder, agents=entry(provider, "m"), sandbox={"isolation": "off"})
    refused(server, ["profile work", "off is less than the server's tools.isolation"])


def test_an_agent_that_can_never_run_is_named_with_its_field(server, folder):
    create(server, "ada", driver="replay", options={})
    refused(server, ["agent ada (registry)", "options.cassette"])
    answer = server.request("POST", "/api/agentic", {"agent": "ada", "goal": "x"})
    assert (answer.status, answer.body["code"]) == (422, "configuration")
    assert "agent ada (registry): options.cassette" in answer.body["detail"] and "7:1" not in str(answer.body)
    profile(server, "work", folder, agents={"ada": {"driver": "codex", "model": "m"}})
    refused(server, ["agent ada (profile work): driver: unknown driver codex"])


# ---- what it would be ------------------------------------------------------------------------------


def test_resolved_values_have_origins(home, server, provider, folder):
    create(server, "ada", driver="api:openai", temperature=0.2, max_iterations=4, tools=["read_file"])
    values, whole = resolved(server)
    assert values["driver"] == ("api:openai", "registry") and whole["profile"] is None
    assert "OPENAI_API_KEY" in str(whole["problems"])
    profile(server, "work", folder, agents=entry(provider, "worker"))
    profile(server, "play", folder)
    values, whole = resolved(server)  # work is active
    assert values["driver"] == ("api:custom", "profile") and values["model"] == ("worker", "profile")
    assert values["options.base_url"] == (provider.base, "profile")
    assert values["temperature"] == (0.2, "registry") and values["tools"] == (["read_file"], "registry")
    assert values["allow_human_input"] == (False, "default")
    assert (whole["profile"], whole["repository"], whole["problems"]) == ("work", folder, [])
    assert resolved(server, query="?profile=play")[0]["model"][1] == "registry"
    assert server.get("/api/agents/nobody/resolved").status == 404
    assert server.get("/api/agents/ada/resolved?profile=nowhere").status == 422
    status, out, _ = home.cli("agent", "show", "ada", "--resolved", "--profile", "work")
    lines = [line.split() for line in out.splitlines()]
    assert status == 0 and ["model", "profile", "work", "worker"] in lines and ["temperature", "registry", "0.2"] in lines
    status, _, errors = home.cli("agent", "show", "ada", "--resolved", "--profile", "play")
    assert status == 0 and "a run would be refused: " in errors and "OPENAI_API_KEY" in errors


def test_an_agent_of_a_definition_may_change_single_values(home, server, provider, folder):
    create(server, "ada", driver="api:custom", system_prompt="Registered.",
           options={"base_url": provider.base, "api_key": "env:CANARY_KEY"})
    home.define(STEP.replace("name: one", "name: two") + "agents: {ada: {model: filed}}\n")
    provider.then(text="x")
    assert server.finish(begin(server, "two"))["status"] == "success"
    assert models(provider) == ["filed"]
    assert provider.requests[0]["body"]["messages"][0]["content"] == "Registered."


# ---- agents of the graph vocabulary ------------------------------------------------------------------


def test_an_agent_of_the_graph_vocabulary_runs_unchanged(server, provider):
    agent = {"name": "ada", "role": "planner", "system_prompt": "Plan.", "tools": [], "max_iterations": 3,
             "llm_config": {"endpoint": provider.base, "model": "m7", "api_type": "custom", "api_key_env": "CANARY_KEY",
                            "temperature": 0.3, "max_tokens": 55}, "temperature": 0.9, "allow_human_input": True}
    assert server.request("POST", "/api/agents", agent).status == 201
    assert server.get("/api/agents/ada?view=graph").body == agent | {
        "llm_config": agent["llm_config"] | {"api_key": None}}
    provider.then(text="x")
    assert server.finish(begin(server))["outputs"] == {"text": "x"}
    body = provider.requests[0]["body"]
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("m7", 0.3, 55)
    assert [tool["function"]["name"] for tool in body["tools"]] == ["ask_human"]


def test_a_task_of_the_graph_vocabulary_has_its_goal_and_its_agent(home, server):
    """description is the input description, goal or task, else the name of the workflow; assigned_agent is the first agent."""
    create(server, "ada", options={"replies": [{"text": "a"}, {"text": "b"}, {"text": "c"}]})
    run = server.request("POST", "/api/agentic", {"agent": "ada", "goal": "Greet."}).body["run_id"]
    plain = begin(server)
    home.define("name: three\ninputs: {description: {type: string}}\nsteps:\n  - {name: first, tool: echo, inputs: {text: x}}\n"
                "  - {name: say, depends_on: [first], agent: ada, inputs: {prompt: Speak.}}\n")
    third = begin(server, "three", inputs={"description": "Tell a story."})
    home.define("name: none\nsteps:\n  - {name: first, tool: echo, inputs: {text: x}}\n")
    for one in (run, plain, third):
        server.finish(one)

    def task(one):
        body = server.get(f"/api/runs/{one}?view=graph").body
        return body["description"], body["assigned_agent"]
    assert (task(run), task(plain), task(third)) == (("Greet.", "ada"), ("one", "ada"), ("Tell a story.", "ada"))
    assert task(begin(server, "none")) == ("none", "")
