"""baton import: a folder of agents, workflows, MCP servers and retention, or agents.yaml and models.yaml; all of it or nothing."""
import json
import pathlib

import pytest

CODER = """name: coder
role: Writes code
system_prompt: You write code.
tools: [read_file, web_search]
llm_config: {endpoint: "http://127.0.0.1:9/v1", model: m1, api_key: "${CANARY_KEY}", api_type: custom}
max_iterations: 4
"""
REVIEW = """{"name": "review", "patterns": [], "entry_point": "write",
 "nodes": {"write": {"type": "agent", "agent": "coder"}, "find": {"type": "tool", "tool": "web_search"}},
 "edges": [{"from": "write", "to": "find"}, {"from": "find", "to": "__end__"}]}
"""
SERVERS = """servers:
  - name: web
    transport: stdio
    config: {command: mcp-web, args: [--fast], env: {API_TOKEN: "${WEB_TOKEN}"}}
    auto_reconnect: {max_attempts: 5}
  - {name: docs, transport: sse, config: {url: "http://127.0.0.1:9/sse"}}
tool_overrides:
  "web:web_search": {timeout_seconds: 20, fallback_tools: ["docs:search"]}
"""
GRAPH = {"agents/coder.yaml": CODER, "workflows/review.json": REVIEW, "config/mcp_servers.yaml": SERVERS,
         "config/retention_policy.yaml": "default_days: 5\nby_status: {failed: 9}\n"}


def folder(home, files, name="import"):
    root = pathlib.Path(home.path, name)
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return str(root)


def actions(server, layout, files, **more):
    answer = server.request("POST", f"/api/import/{layout}", {"files": files, **more})
    assert answer.status == 200, answer
    assert answer.body["is_valid"], answer
    return {(item["kind"], item["name"]): item["action"] for item in answer.body["items"]}


def refused(server, layout, files):
    answer = server.request("POST", f"/api/import/{layout}", {"files": files})
    assert answer.status == 200 and not answer.body["is_valid"], answer
    return answer.body["problems"]


def test_a_graph_folder_is_imported_as_it_is(home, server):
    made = actions(server, "graph", GRAPH)
    assert made == {("mcp_server", "web"): "created", ("mcp_server", "docs"): "created", ("agent", "coder"): "created",
                    ("workflow", "review"): "created", ("retention", "retention"): "created"}
    agent = server.get("/api/agents/coder").body
    assert agent["tools"] == ["read_file"] and agent["unresolved_tools"] == ["web_search"]
    assert agent["llm_config"]["api_key"] == "env:CANARY_KEY" and agent["max_iterations"] == 4
    stored = server.get("/api/workflows/review").body
    assert stored["version"] == 1 and stored["yaml_content"] == REVIEW and stored["source"] == "stored"
    web = server.get("/api/mcp/servers/web").body
    assert web["config"]["env"] == {"API_TOKEN": "${WEB_TOKEN}"} and web["tools"]["web_search"]["timeout_seconds"] == 20
    assert [one["name"] for one in server.get("/api/mcp/servers").body["items"]] == ["docs", "web"]


def test_a_second_import_changes_nothing(home, server):
    actions(server, "graph", GRAPH)
    assert set(actions(server, "graph", GRAPH).values()) == {"unchanged"}
    assert len(server.get("/api/workflows/review/versions").body["versions"]) == 1
    changed = actions(server, "graph", {**GRAPH, "workflows/review.json": REVIEW.replace("find", "look")})
    assert [key for key, action in changed.items() if action != "unchanged"] == [("workflow", "review")]
    assert [one["version"] for one in server.get("/api/workflows/review/versions").body["versions"]] == [2, 1]


def test_a_preview_changes_nothing(home, server):
    assert set(actions(server, "graph", GRAPH, dry_run=True).values()) == {"created"}
    assert server.get("/api/agents/coder").status == 404 and server.get("/api/workflows/review").body["source"] == "packed"


def test_tools_of_mcp_servers_are_unresolved_and_refuse_the_start(home, server):
    answer = server.request("POST", "/api/import/graph", {"files": GRAPH}).body
    assert any(one["file"] == "workflows/review.json" and "web_search" in one["text"] and one["line"] == 2 for one in answer["warnings"]), answer
    assert any(one["file"] == "agents/coder.yaml" and one["line"] == 4 and "unresolved" in one["text"] for one in answer["warnings"]), answer
    assert {"write", "find"} <= {node["id"] for node in server.get("/api/workflows/review/dag").body["nodes"]}
    start = server.start("review", {"task": "x"})
    assert start.status == 422 and "unknown tool web_search" in start.body["detail"] and "MCP" in start.body["detail"], start
    assert server.get("/api/runs").body == []


@pytest.mark.parametrize("change, place, says", [
    ({"agents/coder.yaml": CODER.replace("role:", "rolle:")}, ("agents/coder.yaml", 2), "role"),
    ({"agents/two.yaml": CODER}, ("agents/two.yaml", None), "already a agent called coder"),
    ({"workflows/review.json": REVIEW.replace('"to": "find"', '"to": "fnd"')}, ("workflows/review.json", 3), 'did you mean "find"?'),
    ({"workflows/review.json": REVIEW.replace('"coder"', '"codr"')}, ("workflows/review.json", 2), "codr"),
    ({"config/mcp_servers.yaml": "servers: [{name: web, transport: pigeon, config: {}}]\n"}, ("config/mcp_servers.yaml", 1), "transport"),
    ({"config/mcp_servers.yaml": SERVERS.replace('"web:web_search"', '"wbe:x"')}, ("config/mcp_servers.yaml", 8), "SERVER:TOOL"),
    ({"config/retention_policy.yaml": "default_days: soon\n"}, ("config/retention_policy.yaml", 1), "default_days"),
    ({"agents/broken.yaml": "name: [\n"}, ("agents/broken.yaml", None), ""),
    ({"notes/x.txt": "hello"}, ("notes/x.txt", None), "does not belong to the layout"),
])
def test_one_problem_and_nothing_is_imported(server, change, place, says):
    found = refused(server, "graph", {**GRAPH, **change})
    assert any(one["file"] == place[0] and says in one["text"] and (place[1] is None or one["line"] == place[1]) for one in found), found
    assert server.get("/api/agents/coder").status == 404 and server.get("/api/mcp/servers").body["items"] == []


def test_a_secret_in_a_server_is_refused(server):
    answer = server.request("POST", "/api/import/graph", {"files": {**GRAPH, "config/mcp_servers.yaml": SERVERS.replace("${WEB_TOKEN}", "sk-123")}})
    assert answer.status == 422 and "reference to a secret" in json.dumps(answer.body), answer
    assert server.get("/api/agents/coder").status == 404


def test_the_command_line_imports_a_folder(home):
    path = folder(home, GRAPH)
    status, out, narration = home.cli("import", "graph", path, "--dry-run")
    assert status == 0 and "created     workflow    review" in out and "nothing was changed" in narration, out
    status, out, _ = home.cli("import", "graph", path)
    assert status == 0 and f"{path}/agents/coder.yaml:4:20: warning: tool web_search" in out, out
    status, out, _ = home.cli("import", "graph", path)
    assert status == 0 and "created" not in out and "unchanged   agent       coder" in out
    status, out, narration = home.cli("import", "graph", folder(home, {"agents/x.yaml": "name: x\n"}, "bad"))
    assert status == 2 and "/agents/x.yaml:1:1: " in out and "nothing was changed" in narration, out
    assert home.cli("import", "graph", folder(home, {"other/x": ""}, "empty"))[0] != 0


def test_mcp_servers_are_documents(server):
    one = {"name": "web", "transport": "sse", "config": {"url": "http://127.0.0.1:9/sse"}}
    made = server.request("POST", "/api/mcp/servers", one)
    assert made.status == 201 and made.headers["Location"] == "/api/mcp/servers/web"
    assert server.request("POST", "/api/mcp/servers", one).status == 409
    changed = server.request("PUT", "/api/mcp/servers/web", {**one, "enabled": False}, {"If-Match": made.headers["ETag"]})
    assert changed.status == 200 and changed.body["enabled"] is False
    assert server.request("PUT", "/api/mcp/servers/web", one, {"If-Match": made.headers["ETag"]}).status == 412
    assert server.request("PUT", "/api/mcp/servers/other", one).status == 422
    assert server.request("DELETE", "/api/mcp/servers/web").status == 204 and server.get("/api/mcp/servers/web").status == 404


# ---- agents.yaml and models.yaml ----------------------------------------------------------------------

AGENTS = """version: "1.0.0"
agents:
  reviewer:
    name: Reviewer Agent
    role: Reviews code
    description: Expert at review
    default_model: "gh:openai/gpt-4o"
    fallback_models: ["ollama:qwen2.5-coder:14b", "local:phi4"]
    tools: [read_file, secret_detector]
    prompt_file: prompts/reviewer.md
  coder: {role: Writes code, routing: code_gen}
settings: {max_iterations: 7, iteration_timeout_seconds: 300}
"""
MODELS = """version: "1.0.0"
providers:
  ollama:
    host: "${OLLAMA_HOST:-http://127.0.0.1:11434}"
    available: [{id: "ollama:qwen2.5-coder:14b"}]
  github_models:
    endpoint: https://models.example.com/v1
    api_key_env: GITHUB_TOKEN
    available: [{id: "gh:openai/gpt-4o", cost_tier: premium}, {id: "gh:openai/gpt-4o-mini"}]
  local_onnx: {base_path: "${AIGALLERY_CACHE:-/tmp}", available: [{id: "local:phi4"}]}
routing:
  code_gen: {preferred: ["anthropic:claude-sonnet-4-5"], fallback: ["gh:openai/gpt-4o-mini"]}
fallback: {strategy: cascade, chain: ["ollama:qwen2.5-coder:14b"]}
tiers:
  1: "ollama:qwen2.5-coder:14b"
  2: ["openai:gpt-5-mini", "anthropic:claude-haiku-4-5"]
  tier3: {routing: code_gen, max_tokens: 1000}
defaults: {temperature: 0.3, max_tokens: 2048, timeout_seconds: 60}
"""
RUNTIME = {"agents.yaml": AGENTS, "models.yaml": MODELS, "prompts/reviewer.md": "# Reviewer\nYou review.\n"}


def values(server, name):
    answer = server.get(f"/api/agents/{name}/resolved")
    assert answer.status == 200, answer
    return {one["name"]: (one["value"], one["origin"]) for one in answer.body["values"]}


def test_agents_and_models_become_registry_agents_with_fallbacks(home, server):
    assert actions(server, "runtime", RUNTIME) == {("tiers", "tiers"): "created", ("agent", "reviewer"): "created", ("agent", "coder"): "created"}
    reviewer = server.get("/api/agents/reviewer").body
    assert reviewer["driver"] == "api:custom" and reviewer["llm_config"]["model"] == "openai/gpt-4o"
    assert reviewer["options"] == {"base_url": "https://models.example.com/v1", "api_key": "env:GITHUB_TOKEN", "timeout_seconds": 60, "fallback": [
        {"provider": "ollama", "model": "qwen2.5-coder:14b", "base_url": "http://127.0.0.1:11434/v1"}]}
    assert reviewer["system_prompt"] == "# Reviewer\nYou review.\n" and reviewer["temperature"] == 0.3
    assert reviewer["max_iterations"] == 7 and reviewer["timeout_seconds"] == 300 and reviewer["unresolved_tools"] == ["secret_detector"]
    coder = server.get("/api/agents/coder").body
    assert coder["driver"] == "api:anthropic" and [one["model"] for one in coder["options"]["fallback"]] == ["openai/gpt-4o-mini", "qwen2.5-coder:14b"]
    assert {one["name"] for one in server.get("/api/agents").body["agents"]} == {"reviewer", "coder"}
    assert set(actions(server, "runtime", RUNTIME).values()) == {"unchanged"}


def test_a_tier_gives_the_models_and_the_role_the_rest(home, server):
    actions(server, "runtime", RUNTIME)
    found = values(server, "tier2_reviewer")
    assert found["driver"] == ("api:openai", "tier") and found["model"] == ("gpt-5-mini", "tier")
    assert [one["model"] for one in found["options.fallback"][0]] == ["claude-haiku-4-5", "qwen2.5-coder:14b"]
    assert found["max_tokens"] == (8192, "tier") and found["system"] == ("# Reviewer\nYou review.\n", "registry")
    assert "options.api_key" not in found and found["temperature"] == (0.3, "registry")
    assert values(server, "tier3_coder")["max_tokens"] == (1000, "tier")
    status, out, _ = home.cli("agent", "show", "tier2_reviewer", "--resolved")
    assert status == 0 and any(line.split()[:3] == ["model", "tier", "gpt-5-mini"] for line in out.splitlines()), out


def test_a_step_with_a_tier_runs(home, server):
    actions(server, "runtime", RUNTIME)
    home.define("name: w\nsteps: [{name: look, agent: tier1_reviewer, inputs: {prompt: x}}]\noutputs: {t: {from: \"${steps.look.outputs.text}\"}}\n")
    answer = server.request("POST", "/api/run", {"workflow": "w", "inputs": {}, "adapter": "sim"})
    run = server.finish(answer.body["run_id"])
    assert run["status"] == "success" and run["outputs"] == {"t": "ok"}
    assert {step["agent"] for step in run["steps"]} == {"tier1_reviewer"}
    conversation = json.dumps(server.get(f"/api/runs/{run['run_id']}/conversation").body)
    assert "qwen2.5-coder:14b" in conversation and "You review." in conversation, conversation


@pytest.mark.parametrize("agent, says", [
    ("tier7_reviewer", "there is no tier 7; expected one of 1, 2, 3"),
    ("tier2_reviwer", "there is no role reviwer: no agent of the registry has this name; there are: coder, reviewer; did you mean reviewer?"),
])
def test_an_unknown_tier_or_role_is_named_with_the_choices(home, server, agent, says):
    actions(server, "runtime", RUNTIME)
    home.define("name: w\nsteps: [{name: look, agent: %s, inputs: {prompt: x}}]\n" % agent)
    refusal = server.start("w")
    assert refusal.status == 422 and says in refusal.body["detail"], refusal
    assert says in server.get(f"/api/agents/{agent}/resolved").body["detail"]


def test_without_tiers_the_error_says_what_to_do(home, server):
    home.define("name: w\nsteps: [{name: look, agent: tier2_reviewer, inputs: {prompt: x}}]\n")
    assert "baton import runtime" in server.start("w").body["detail"]


def test_a_file_without_tiers_limits_the_length_of_replies(server):
    models = MODELS[:MODELS.index("tiers:")] + MODELS[MODELS.index("defaults:"):]
    actions(server, "runtime", {**RUNTIME, "models.yaml": models})
    found = values(server, "tier4_reviewer")
    assert found["max_tokens"] == (16384, "tier") and found["model"] == ("openai/gpt-4o", "registry")


def test_variables_are_read_from_a_list(home):
    server = home.serve(OLLAMA_HOST="http://127.0.0.1:4000/", AGENTIC_MODEL_TIER_1="groq:llama", AIGALLERY_CACHE="/elsewhere", HOME_SECRET="s")
    answer = server.request("POST", "/api/import/runtime", {"files": RUNTIME}).body
    assert answer["is_valid"], answer
    assert any("AIGALLERY_CACHE" in one["text"] and one["line"] == 10 for one in answer["warnings"]), answer["warnings"]
    tiers = server.get("/api/tiers").body["tiers"]
    assert tiers["1"]["driver"] == "api:groq" and tiers["1"]["options"]["fallback"][0]["base_url"] == "http://127.0.0.1:4000/v1"
    found = refused(server, "runtime", {**RUNTIME, "models.yaml": MODELS.replace("${AIGALLERY_CACHE:-/tmp}", "${HOME_SECRET}")})
    assert any("HOME_SECRET may not be read" in one["text"] and one["line"] == 10 for one in found), found


@pytest.mark.parametrize("change, file, says", [
    ({"agents.yaml": AGENTS.replace("routing: code_gen", "routing: code_gn")}, "agents.yaml", "there is no routing code_gn; expected one of code_gen"),
    ({"agents.yaml": AGENTS.replace("prompts/reviewer.md", "prompts/x.md")}, "agents.yaml", "there is no file prompts/x.md"),
    ({"agents.yaml": AGENTS.replace("  coder:", "  Coder 1:")}, "agents.yaml", "a name has small letters"),
    ({"models.yaml": MODELS.replace("  1: ", "  0: ")}, "models.yaml", "unknown tier 0"),
    ({"models.yaml": MODELS.replace('["openai:gpt-5-mini", "anthropic:claude-haiku-4-5"]', '["local:phi4"]').replace('chain: ["ollama:qwen2.5-coder:14b"]', "chain: []")},
     "models.yaml", "tier 2: none of its models can be reached"),
    ({"agents.yaml": "agents: [\n"}, "agents.yaml", ""),
    ({"x.py": "print()"}, "x.py", "does not belong to the layout"),
])
def test_mistakes_of_the_files_change_nothing(server, change, file, says):
    found = refused(server, "runtime", {**RUNTIME, **change})
    assert any(one["file"] == file and says in one["text"] for one in found), found
    assert server.get("/api/agents?view=run").body["items"] == [] and server.get("/api/tiers").status == 404


def test_only_admins_import(home):
    server = home.serve()
    made = server.request("POST", "/api/keys", {"label": "v", "role": "operator"})
    assert made.status == 201, made
    answer = server.request("POST", "/api/import/graph", {"files": GRAPH}, {"Authorization": f"Bearer {made.body['key']}"})
    assert answer.status == 403, answer


def test_an_imported_retention_policy_counts(home, server):
    actions(server, "graph", {"config/retention_policy.yaml": "default_days: 0\n"})
    run = server.start("two-steps", {}, wait=True).body["run_id"]
    server.kill()
    status, out, narration = home.cli("db", "compact")
    assert status == 0, out + narration
    server = home.serve()
    assert server.get(f"/api/runs/{run}/events?after=0").status in (404, 410) or server.events(run)[0]["type"] != "run.created"
