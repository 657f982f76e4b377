"""The registry of agents: made, read in three vocabularies, changed, taken away; what a crash leaves."""
import concurrent.futures
import json
import pathlib

import pytest
from baton import EXIT, Gone, killed

SEED = {"name": "reviewer", "role": "reviews changes", "system_prompt": "You review.", "tools": ["shell", "echo"],
        "llm_config": {"endpoint": "https://models.example/v1", "model": "big-1", "api_key": "env:MODEL_KEY"},
        "max_iterations": 4, "temperature": 0.25}


def agent(name="reviewer", **more):
    return {"name": name, "role": "reviews", "system_prompt": "You review.", "llm_config": {"model": "m"}, **more}


def create(server, name="reviewer", headers=None, **more):
    return server.request("POST", "/api/agents", agent(name, **more), headers)


def put(server, name, headers=None, **more):
    return server.request("PUT", f"/api/agents/{name}", agent(name, **more), headers)


def names(server):
    return [item["name"] for item in server.get("/api/agents").body["agents"]]


def refused(answer, status, says=""):
    assert answer.status == status, answer
    assert says in answer.body["detail"], answer.body
    return answer.body


def places(problem):
    return {place["pointer"] for place in problem["details"]}


def test_from_beginning_to_end(server):
    assert server.get("/api/agents").body == {"agents": []}
    made = create(server)
    assert (made.status, made.headers["Location"], made.headers["ETag"]) == (201, "/api/agents/reviewer", '"1"')
    assert made.body["driver"] == "script" and made.body["max_iterations"] == 10 and made.body["tools"] == []
    assert made.body["sandbox"]["mode"] == "none"
    read = server.get("/api/agents/reviewer")
    assert (read.status, read.body, read.headers["ETag"]) == (200, made.body, '"1"')
    assert server.get("/api/agents/reviewer", {"If-None-Match": '"1"'}).status == 304
    changed = put(server, "reviewer", {"If-Match": '"1"'}, tools=["shell"])
    assert (changed.status, changed.headers["ETag"], changed.body["tools"]) == (200, '"2"', ["shell"])
    refused(put(server, "reviewer", {"If-Match": '"1"'}), 412, "is at revision 2, not 1")
    refused(create(server), 409, "already an agent called reviewer")
    assert put(server, "planner").status == 201
    assert names(server) == ["planner", "reviewer"]
    assert server.request("DELETE", "/api/agents/planner").status == 204
    refused(server.get("/api/agents/planner"), 404, "no agent called planner")
    refused(server.request("DELETE", "/api/agents/planner"), 404)
    assert names(server) == ["reviewer"]


def test_a_seeds_agent_is_taken_and_given_back(server):
    made = server.request("POST", "/api/agents", SEED)
    assert made.status == 201, made
    assert server.get("/api/agents/reviewer?view=graph").body == SEED
    assert server.get("/api/agents?view=graph").body == {"agents": [SEED]}
    info = {"name": "reviewer", "description": "reviews changes", "capabilities": [], "model_tier": "standard"}
    answer = server.get("/api/agents/reviewer?view=runtime")
    assert (answer.body, answer.headers["ETag"]) == (info, '"1"')
    assert server.get("/api/agents").body == server.get("/api/agents?view=runtime").body == {"agents": [info]}
    assert server.get("/api/agents?view=run").body == {"items": [made.body], "cursor": None}
    put(server, "reviewer", description="Reads every line.", capabilities=["review"], model_tier="powerful")
    assert server.get("/api/agents").body["agents"] == [
        {"name": "reviewer", "description": "Reads every line.", "capabilities": ["review"], "model_tier": "powerful"}]
    # The agent has no endpoint, but the graph vocabulary requires one.
    assert server.get("/api/agents/reviewer?view=graph").body["llm_config"] == {
        "endpoint": "", "model": "m", "api_key": None}
    refused(server.get("/api/agents?view=task"), 400, "run, runtime, graph")
    refused(server.get("/api/agents/reviewer?view=task"), 400, "run, runtime, graph")


@pytest.mark.parametrize("view", ["run", "runtime", "graph"])
def test_pages(server, view):
    for number in range(5):
        assert create(server, f"a{number}").status == 201
    seen, target = [], f"/api/agents?view={view}&limit=2"
    while target is not None:
        page = server.get(target)
        seen.append([item["name"] for item in page.body["items" if view == "run" else "agents"]])
        link = page.headers["Link"]
        target = None if link is None else link[1:link.index(">")]
        if view == "run":
            assert page.body["cursor"] == (None if link is None else seen[-1][-1])
    assert seen == [["a0", "a1"], ["a2", "a3"], ["a4"]]
    assert server.get("/api/agents?limit=0").status == 400


def test_every_problem_has_its_place(server):
    body = agent(temperature=3, tools=["a", "a"], max_iterations=0, drvier="api", model_tier="huge")
    problem = refused(server.request("POST", "/api/agents", body), 422)
    assert places(problem) == {"/temperature", "/tools/1", "/max_iterations", "/drvier", "/model_tier"}
    assert 'did you mean "driver"' in str(problem)
    for bad in ("Reviewer", "a-b", "", "x" * 129):
        refused(create(server, bad), 422)
    refused(server.request("PUT", "/api/agents/one", agent("two")), 422, "agent one calls itself two")
    secret = agent(options={"deep": [{"api_key": "sk-very-secret"}]}, sandbox={"repo_url": "https://me:w@host/r"})
    secret["llm_config"]["endpoint"] = "https://me:word@models.example"
    answer = server.request("POST", "/api/agents", secret)
    assert places(refused(answer, 422)) == {"/options/deep/0/api_key", "/sandbox/repo_url", "/llm_config/endpoint"}
    assert "very-secret" not in str(answer)
    refused(server.request("POST", "/api/agents", agent(llm_config={"model": "m", "api_key": "sk-1"})), 422)
    assert names(server) == []


def test_a_profile_names_an_agent_of_the_registry(server):
    profile = {"name": "work", "repo_root": "/srv", "sandbox": {"mode": "container", "image": "box:1"},
               "agents": {"dev": {"driver": "claude", "model": "own"}}}
    assert server.request("POST", "/api/profiles", profile).status == 201
    assert create(server, "dev", llm_config={"model": "registry"}).status == 201
    assert create(server, driver="codex", options={"x": 1}).status == 201
    # The profile's own words go first; what it does not name is looked for in the registry.
    assert server.get("/api/profiles/work/agents/dev").body["model"] == "own"
    answer = server.get("/api/profiles/work/agents/reviewer")
    assert answer.status == 200
    told = {name: answer.body[name] for name in ("driver", "model", "options", "profile_name")}
    assert told == {"driver": "codex", "model": "m", "options": {"x": 1}, "profile_name": "work"}
    assert answer.body["sandbox"]["image"] == "box:1"
    refused(server.get("/api/profiles/work/agents/nobody"), 404, "it has dev")


def test_of_many_writers_one_wins(server):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: create(server), range(8)))
    assert sorted(answer.status for answer in answers) == [201] + [409] * 7


@pytest.mark.parametrize("point", ["documents.before_append", "store.before_commit", "store.after_commit",
                                   "documents.committed"])
def test_killed_around_the_commit(home, point):
    server = home.serve(BATON_POINTS=f"{point}=kill")
    key = {"Idempotency-Key": "k"}
    with pytest.raises(Gone):
        create(server, headers=key)
    assert killed(server)
    server = home.serve()
    stored = names(server)
    assert stored == (["reviewer"] if point in ("store.after_commit", "documents.committed") else [])
    assert create(server, headers=key).status == (200 if stored else 201)
    server.kill()
    server = home.serve()
    assert names(server) == ["reviewer"]
    events = server.get("/api/events?type=document.changed").body["items"]
    assert [(e["data"]["kind"], e["data"]["name"]) for e in events] == [("agent", "reviewer")]


def test_on_the_command_line(home):
    file = pathlib.Path(home.path, "agent.yaml")
    file.write_text(json.dumps({k: v for k, v in SEED.items() if k != "name"}))
    home.serve()
    status, out, err = home.cli("agent", "create", "reviewer", "--file", str(file))
    assert status == 0, out + err
    status, out, err = home.cli("agent", "show", "reviewer", "--view", "graph")
    assert (status, json.loads(out)) == (0, SEED), err
    status, out, err = home.cli("agent", "create", "critic", "--set", "role=critic", "--set", "system_prompt=Be kind.",
                                "--set", "llm_config.model=m2")
    assert status == 0, out + err
    status, out, err = home.cli("agent", "list")
    assert (status, out) == (0, "critic  script  m2  critic\nreviewer  script  big-1  reviews changes\n"), err
    status, out, err = home.cli("agent", "list", "--limit", "1")
    assert (out, err) == ("critic  script  m2  critic\n", "more agents follow: --cursor critic\n")
    status, out, err = home.cli("agent", "list", "--limit", "1", "--cursor", "critic")
    assert out.startswith("reviewer")
    status, out, err = home.cli("agent", "update", "reviewer", "--file", str(file), "--set", "driver=claude")
    assert status == 0 and json.loads(out)["driver"] == "claude", err
    assert home.cli("agent", "delete", "critic")[0] == 0
    status, out, err = home.cli("agent", "show", "critic")
    assert status == EXIT["not_found"] and "no agent called critic" in err
    status, out, err = home.cli("agent", "create", "x")
    assert status == EXIT["usage"] and "--file or --set" in err


def test_options_that_the_driver_does_not_take_are_refused(server):
    answer = put(server, "one", driver="script", options={"replys": [{"text": "x"}]})
    assert places(refused(answer, 422, "driver script")) == {"/options/replys"}
    answer = put(server, "one", driver="script", options={"replies": [{"text": 7}]})
    assert places(refused(answer, 422)) == {"/options/replies/0/text"}
    assert server.request("GET", "/api/agents/one").status == 404
    # What is missing may come from a profile or a definition.
    assert put(server, "one", driver="script", options={}).status == 201


def test_tools_and_drivers_that_are_elsewhere_are_saved_and_reported(server):
    assert put(server, "one", driver="claude", options={"anything": 1}, tools=["echo", "ask_human", "workflow:x", "not_here"]).status == 201
    problems = server.request("GET", "/api/agents/one/resolved").body["problems"]
    assert any("not_here" in problem and "echo" not in problem for problem in problems), problems
    assert any("unknown driver claude" in problem for problem in problems), problems
