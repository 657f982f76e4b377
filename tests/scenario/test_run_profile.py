"""A run belongs to a profile: the one its start names, else the active one; the run keeps what it began with."""
import pytest

WAITS = """
name: waits
steps:
  - {name: ask, human: {question: "Go on?"}}
"""
OUTER = """
name: outer
steps:
  - {name: inner, workflow: two-steps}
"""


@pytest.fixture(name="home")
def home_with_workflows(home):
    home.define(WAITS)
    home.define(OUTER)
    return home


@pytest.fixture(name="folder")
def repository(tmp_path):
    return str(tmp_path)


def profile(server, name, folder, **more):
    made = server.request("PUT", f"/api/profiles/{name}", {"name": name, "repo_root": folder, **more})
    assert made.status in (200, 201), made
    return made.body


def begin(server, workflow="waits", **more):
    answer = server.request("POST", "/api/run", {"workflow": workflow, **more})
    assert answer.status == 202, answer
    return answer.body["run_id"]


def created(server, run):
    return server.events(run)[0]["data"]


def runs(server):
    return len(server.get("/api/runs").body)


def outline(server, run):
    return server.get(f"/api/runs/{run}/steps").body


# ---- which profile ----------------------------------------------------------------------------


def test_a_run_belongs_to_the_profile_it_names_or_to_the_active_one(server, folder):
    without = begin(server)
    assert "profile" not in created(server, without) and "repository" not in created(server, without)
    profile(server, "work", folder)  # the first profile is active
    profile(server, "play", folder)
    active, named = begin(server), begin(server, profile="play")
    assert (created(server, active)["profile"], created(server, active)["repository"]) == ("work", folder)
    assert created(server, named)["profile"] == "play"
    assert outline(server, named)["profile"] == "play"
    for view in ("runtime", "pipeline", "pipeline_v1", "task", "graph"):
        shown = server.get(f"/api/runs/{named}?view={view}").body
        assert '"profile": "play"' in str(shown).replace("'", '"'), (view, shown)
    for view in ("pipeline", "pipeline_v1"):
        assert '"profile_id": "play"' in str(server.get(f"/api/runs/{named}?view={view}").body).replace("'", '"')


def test_the_active_profile_may_change_and_the_run_keeps_its_own(home, server, folder):
    profile(server, "work", folder)
    profile(server, "play", folder)
    run = begin(server)
    assert server.request("POST", "/api/profiles/play/activate").status == 200
    profile(server, "work", folder + "/gone")
    server.kill()
    server = home.serve()
    assert (outline(server, run)["profile"], outline(server, run)["repository"]) == ("work", folder)
    assert created(server, begin(server))["profile"] == "play"


def test_a_part_of_a_run_belongs_to_its_profile(server, folder):
    profile(server, "work", folder)
    profile(server, "play", folder)
    run = begin(server, "outer", profile="play")
    child = server.until(run, "subrun.requested")["data"]["effect"]
    server.finish(run)
    assert (created(server, child)["profile"], created(server, child)["repository"]) == ("play", folder)


# ---- what cannot begin ------------------------------------------------------------------------


def refused(server, says, **body):
    before = runs(server)
    answer = server.request("POST", "/api/run", {"workflow": "waits", **body})
    assert (answer.status, answer.body["code"]) == (422, "configuration"), answer
    assert answer.body["class"] == "ConfigurationError", answer.body
    assert all(word in answer.body["detail"] for word in says), answer.body
    assert runs(server) == before


def test_a_profile_that_cannot_be_used_refuses_the_start(server, folder):
    refused(server, ["no profile called nowhere"], profile="nowhere")
    profile(server, "away", folder + "/none")
    refused(server, ["profile away", "repo_root", "is not a folder"], profile="away")
    refused(server, ["profile away"])  # it is the active one
    profile(server, "near", "src/app")
    refused(server, ["profile near", "is not an absolute path"], profile="near")
    assert server.request("POST", "/api/run", {"workflow": "waits", "profile": ""}).status == 422


# ---- the command line -------------------------------------------------------------------------


def test_the_command_line_names_a_profile(home, server, folder):
    profile(server, "work", folder)
    profile(server, "play", folder)
    status, out, _ = home.cli("run", "waits", "--detach", "--profile", "play")
    assert status == 0 and created(server, out.strip())["profile"] == "play"
    status, _, errors = home.cli("run", "waits", "--detach", "--profile", "nowhere")
    assert status == 78 and "no profile called nowhere" in errors
