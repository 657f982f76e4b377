"""Isolation, toolchains and network of a profile or an agent: two runs beside each other see and reach different things."""
import contextlib
import os
import pathlib
import shutil

import pytest
from baton import Gone, killed, new_id
from test_agents import create
from test_custom_tools import fault, put, trust
from test_run_profile import begin, created, profile
from test_sandbox import SHELL
from test_toolchains import CANARY, program
from world import World

PRIVATE = {"BATON_TOOLS_PRIVATE_ADDRESSES": "127.0.0.1"}
NONE = {"network_allowlist_enabled": True, "network_allowed_hosts": []}
ONE = "name: one\nsteps:\n  - {name: step, tool: %s, inputs: {%s}}\n"
WAITS = """
name: waits
steps:
  - {name: ask, human: {question: "Go on?"}}
  - {name: step, depends_on: [ask], tool: shell, inputs: {command: thing}}
"""


@pytest.fixture
def world():
    with World() as world:
        world.port = world.server_address[1]
        yield world


@pytest.fixture
def user(home):
    """A home folder with two toolchains and credentials; not in /tmp, where the sandbox has its own."""
    folder = pathlib.Path("/srv", os.path.basename(home.path))
    if not os.access("/srv", os.W_OK):
        pytest.skip("cannot write to /srv")
    program(folder / "tools/bin/thing")
    program(folder / "other/bin/thing")
    for name in (".ssh/id_rsa", "tools/.ssh/id"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(CANARY)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(name="home")
def home_with_shell(home):
    home.define(SHELL)
    return home


def serve(home, user, **env):
    return home.serve(HOME=str(user), **PRIVATE, **env)


def stdout(server, profile, command):
    result = server.finish(begin(server, "shell", profile=profile, inputs={"command": command}))
    assert result["status"] == "success", result
    return result["steps"][0]["output"]["stdout"]


def sandbox(server, name, folder, **more):
    profile(server, name, str(folder), sandbox=more)


def only(world):
    return {"network_allowlist_enabled": True, "network_allowed_hosts": [f"127.0.0.1:{world.port}"]}


# ---- toolchains ----------------------------------------------------------------------------------


def test_two_profiles_see_different_toolchains(home, user, tmp_path):
    server = serve(home, user)
    sandbox(server, "plain", tmp_path)
    sandbox(server, "tools", tmp_path, mounts=["~/tools"])
    sandbox(server, "other", tmp_path, mounts=[f"{user}/other/bin"])
    command = f"thing 2>&1; ls {user} 2>&1; true"
    assert "thing: not found" in stdout(server, "plain", command)
    assert stdout(server, "tools", command) == f"from {user}/tools/bin/thing\ntools\n"
    assert stdout(server, "other", command) == f"from {user}/other/bin/thing\nother\n"
    text = stdout(server, "tools", f"grep -r . {user}/tools 2>&1; touch {user}/tools/x 2>&1; true")
    assert CANARY not in text and "Read-only file system" in text


def test_the_list_of_a_profile_replaces_the_servers(home, user, tmp_path):
    server = serve(home, user, BATON_SANDBOX_MOUNTS="~/tools")
    sandbox(server, "plain", tmp_path)
    sandbox(server, "none", tmp_path, mounts=[])
    assert stdout(server, "plain", "thing") == f"from {user}/tools/bin/thing\n"
    assert "not found" in stdout(server, "none", "thing 2>&1; true")


@pytest.mark.parametrize("mount, why", [
    ("/etc", "/etc"), ("~/.ssh", "holds credentials"), ("~/", "home folders"), ("DATA", "data folder"), ("relative/none", "not found"),
    ("~/tools/link", "holds credentials")])
def test_what_may_not_be_mounted_refuses_the_start(home, user, tmp_path, mount, why):
    (user / "tools/link").symlink_to(user / ".ssh")
    data = user / "data"
    shutil.move(home.data, data)
    os.symlink(data, home.data)
    server = serve(home, user)
    sandbox(server, "work", tmp_path, mounts=[mount.replace("DATA", str(data))])
    answer = server.request("POST", "/api/run", {"workflow": "shell", "inputs": {"command": "true"}})
    assert (answer.status, answer.body["code"]) == (422, "configuration"), answer
    assert "profile work: sandbox: sandbox.mounts: " in answer.body["detail"] and why in answer.body["detail"], answer.body
    assert server.get("/api/runs").body == []


def test_a_folder_that_became_a_link_to_credentials_is_not_mounted(home, user, tmp_path):
    """It was good at the start of the run; the call fails, and does not run without it either."""
    home.define(WAITS)
    server = serve(home, user)
    sandbox(server, "work", tmp_path, mounts=["~/other"])
    run = begin(server, "waits")
    server.until(run, "human.requested")
    shutil.rmtree(user / "other")
    (user / "other").symlink_to(user / ".ssh")
    (request,) = server.inbox()
    server.respond(request["id"])
    assert server.finish(run)["status"] == "failed"
    failed = fault(server, server.result(run))
    assert failed["code"] == "isolation" and "holds credentials" in failed["text"], failed


def test_an_agents_tools_run_in_its_sandbox(home, user, tmp_path):
    """Of the registry and of the profile; a sandbox on the profile takes precedence."""
    server = serve(home, user)
    script = {"replies": [{"turn": 1, "calls": [{"name": "shell", "arguments": {"command": "thing"}}]}, {"turn": 2, "text": "done"}]}
    home.define("name: agent\nsteps:\n  - {name: say, agent: ada, inputs: {prompt: Go.}}\n")

    def seen(**more):
        run = begin(server, "agent", **more)
        server.finish(run)
        return str([event["data"] for event in server.events(run) if event["type"] == "tool.finished"])
    create(server, "ada", options=script, tools=["shell"], sandbox={"mounts": ["~/tools"]})
    assert "from " + str(user / "tools/bin/thing") in seen()
    profile(server, "agents", str(tmp_path), agents={"ada": {"driver": "script", "model": "m", "options": script, "sandbox": {"mounts": ["~/other"]}}})
    assert "from " + str(user / "other/bin/thing") in seen()
    profile(server, "empty", str(tmp_path), sandbox={"mounts": []})
    assert "not found" in seen(profile="empty")


# ---- network ---------------------------------------------------------------------------------------


def curl(world, host="127.0.0.1"):
    return f"curl -sS --noproxy '' --max-time 60 http://{host}:{world.port}/x 2>&1; true"


def test_two_profiles_reach_different_hosts(home, user, tmp_path, world):
    server = serve(home, user)
    sandbox(server, "plain", tmp_path)
    sandbox(server, "near", tmp_path, **only(world))
    sandbox(server, "far", tmp_path, network_allowlist_enabled=True, network_allowed_hosts=["example.com", f"27.0.0.1:{world.port}"])
    assert "GET /x" not in stdout(server, "plain", curl(world))
    assert world.ledger == []
    assert "GET /x" in stdout(server, "near", curl(world))
    refusal = "network_allowed_hosts of the profile or agent does not allow this host and port"
    assert refusal in stdout(server, "far", curl(world)) and refusal in server.errors()
    assert refusal in stdout(server, "near", curl(world, "localhost"))
    assert len(world.ledger) == 1


def test_the_list_of_a_profile_replaces_the_servers_hosts(home, user, tmp_path, world):
    server = serve(home, user, BATON_SANDBOX_NETWORK=f"127.0.0.1:{world.port}")
    sandbox(server, "plain", tmp_path)
    sandbox(server, "none", tmp_path, **NONE)
    sandbox(server, "far", tmp_path, network_allowlist_enabled=True, network_allowed_hosts=["example.com"])
    assert "GET /x" in stdout(server, "plain", curl(world))
    assert "GET /x" not in stdout(server, "none", curl(world)) + stdout(server, "far", curl(world))
    assert len(world.ledger) == 1


def test_private_addresses_and_our_own_port_stay_refused(home, user, tmp_path, world):
    server = home.serve(HOME=str(user))
    own = int(server.address.rsplit(":", 1)[1])
    for name, number in (("near", world.port), ("own", own)):
        sandbox(server, name, tmp_path, network_allowlist_enabled=True, network_allowed_hosts=[f"127.0.0.1:{number}"])
        assert "private, or Baton's own" in stdout(server, name, f"curl -sS --noproxy '' http://127.0.0.1:{number}/ 2>&1; true")
    assert world.ledger == []


@pytest.mark.parametrize("host", ["", "http://example.com", "a b", "*", "example.com:99999"])
def test_hosts_that_are_none_refuse_the_start(home, user, tmp_path, host):
    server = serve(home, user)
    sandbox(server, "work", tmp_path, network_allowlist_enabled=True, network_allowed_hosts=[host])
    answer = server.request("POST", "/api/run", {"workflow": "shell", "inputs": {"command": "true"}})
    assert (answer.status, answer.body["code"]) == (422, "configuration"), answer
    assert "profile work: sandbox: network_allowed_hosts: " in answer.body["detail"], answer.body


def test_a_command_with_a_network_is_not_repeated_after_a_crash(home, user, tmp_path, world):
    """Without one it is; both have the class that was recorded at their start."""
    outcomes = {}
    for name, more in (("near", only(world)), ("none", NONE)):
        server = serve(home, user, BATON_POINTS="tool.ended=kill")
        sandbox(server, name, tmp_path, **more)
        run = new_id()
        with contextlib.suppress(Gone):
            server.request("POST", "/api/run", {"run_id": run, "workflow": "shell", "profile": name, "inputs": {"command": "true"}})
        assert killed(server)
        server = serve(home, user)
        if name == "near":
            server.until(run, "tool.finished")
        else:
            server.finish(run)
        outcomes[name] = [event["data"]["outcome"] for event in server.events(run) if event["type"] == "tool.finished"]
        server.kill()
    assert outcomes == {"near": ["unknown"], "none": ["ok"]}


# ---- the run keeps what it began with ----------------------------------------------------------------


def test_a_repeated_call_has_the_pinned_sandbox(home, user, tmp_path):
    """The profile changes before the call, and the server is killed during it."""
    home.define(WAITS)
    server = serve(home, user)
    sandbox(server, "work", tmp_path, mounts=["~/tools"])
    run = begin(server, "waits")
    server.until(run, "human.requested")
    sandbox(server, "work", tmp_path, mounts=["~/other"])
    server.kill()
    server = serve(home, user, BATON_POINTS="tool.ended=kill")
    (request,) = server.inbox()
    with contextlib.suppress(Gone):
        server.respond(request["id"])
    assert killed(server)
    server = serve(home, user)
    result = server.finish(run)
    assert created(server, run)["profile"] == "work"
    assert result["steps"][1]["output"]["stdout"] == f"from {user}/tools/bin/thing\n", result
    assert server.types(run).count("tool.restarted") == 1
    assert stdout(server, "work", "thing") == f"from {user}/other/bin/thing\n"


# ---- isolation ---------------------------------------------------------------------------------------


def test_a_profile_may_isolate_more_than_the_server(home, user, tmp_path):
    server = serve(home, user, BATON_TOOLS_ISOLATION="off")
    sandbox(server, "plain", tmp_path)
    sandbox(server, "closed", tmp_path, isolation="native")
    assert stdout(server, "plain", f"cat {user}/.ssh/id_rsa") == CANARY
    assert CANARY not in stdout(server, "closed", f"cat {user}/.ssh/id_rsa 2>&1; pwd")


@pytest.mark.parametrize("more, why", [
    ({"isolation": "off"}, "off is less than the server's tools.isolation"), ({"mode": "container"}, "container is not available"),
    ({"mode": "daytona", "repo_url": "https://example.com/r"}, "daytona is not available")])
def test_less_isolation_or_a_missing_mode_refuses_the_start(home, user, tmp_path, more, why):
    server = serve(home, user)
    sandbox(server, "work", tmp_path, **more)
    answer = server.request("POST", "/api/run", {"workflow": "shell", "inputs": {"command": "true"}})
    assert (answer.status, answer.body["code"]) == (422, "configuration"), answer
    assert why in answer.body["detail"] and server.get("/api/runs").body == []


def test_a_server_that_isolates_again_fails_the_calls_of_a_profile_without(home, user, tmp_path):
    home.define(WAITS)
    server = serve(home, user, BATON_TOOLS_ISOLATION="off")
    sandbox(server, "open", tmp_path, isolation="off")
    run = begin(server, "waits")
    server.until(run, "human.requested")
    server.kill()
    server = serve(home, user)
    (request,) = server.inbox()
    server.respond(request["id"])
    assert server.finish(run)["status"] == "failed"
    assert fault(server, server.result(run))["code"] == "isolation"


# ---- custom tools --------------------------------------------------------------------------------------

KEPT = """
import os, subprocess
count = 0

def do():
    global count
    count += 1
    return {"count": count, "thing": subprocess.run("thing 2>&1; true", shell=True, capture_output=True, text=True).stdout}
"""


def test_a_kept_process_serves_one_sandbox_only(home, user, tmp_path):
    server = serve(home, user)
    put(home, "kept", "path: kept.py\nfunction: do\nkeep_alive: true\nclass: idempotent\n", kept__py=KEPT)
    trust(server, "kept")
    home.define(ONE % ("kept", ""))
    sandbox(server, "plain", tmp_path)
    sandbox(server, "tools", tmp_path, mounts=["~/tools"])
    sandbox(server, "again", tmp_path, mounts=["~/tools"])

    def call(name):
        run = begin(server, "one", profile=name)
        server.finish(run)
        answer = server.result(run)["steps"][0]["output"]
        return answer["count"], answer["thing"].strip()
    seen = f"from {user}/tools/bin/thing"
    assert call("tools") == (1, seen)
    count, text = call("plain")
    assert count == 1 and "not found" in text
    assert call("tools") == (2, seen)
    assert call("again") == (3, seen)  # another profile with the same sandbox
    assert call("plain")[0] == 2
