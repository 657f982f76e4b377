"""The commands of the main job, as a person uses them in a repository, and a model over HTTP behind them."""
import json
import os
import subprocess

import pytest
from baton import EXIT, PROGRAM, environment
from fake_provider import FakeProvider
from pipelines import PLAN, Repository, gate, implement, plan_call, profile, script, task, team


@pytest.fixture(name="repository")
def repository_of_a_person(tmp_path):
    return Repository(tmp_path / "greetings")


def baton(home, folder, *words):
    """Runs a command in a folder: (exit status, stdout, stderr)."""
    done = subprocess.run([PROGRAM, "--home", home.data, *words], cwd=folder, env=environment(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_a_first_day(home, repository):
    repository.write("issues/7-greeting.md", "# Greet people\n\nWith a file.\n")
    repository.commit("an issue")
    server = home.serve()
    status, output, errors = baton(home, repository.folder, "init", "--yes", "--driver", "script", "--model", "play")
    assert status == 0 and output.startswith("profile greetings: ") and "tracker file" in output, errors
    made = server.get("/api/profiles/greetings").body
    assert made["repo_root"] == os.path.realpath(repository.folder) and "task_reviewer" in made["agents"]
    assert server.request("PATCH", "/api/profiles/greetings", {"agents": team()}).status == 200
    (repository.folder.parent / "plan.md").write_text(PLAN)
    status, output, errors = baton(home, repository.folder, "start", "7", "--plan", "../plan.md", "--detach")
    run = output.strip()
    assert status == 0, errors
    assert "Greet people" in gate(server, run)["question"]
    status, output, errors = baton(home, repository.folder, "approve", run, "-m", "go", "--follow")
    assert status == 0, errors
    branch = server.result(run)["outputs"]["branch"]
    assert len(repository.subjects(branch)) == 2
    status, output, errors = baton(home, repository.folder, "land", run)
    assert status == 0 and (repository.folder / "farewell.txt").read_text() == "goodbye\n", errors


def test_without_a_repository_or_a_profile(home, repository, tmp_path):
    home.serve()
    for words in (["init", "--yes"], ["start", "1"], ["review", "--local"]):
        status, _, errors = baton(home, tmp_path, *words)
        assert status == EXIT["not_found"] and "is not in a git repository" in errors, (words, errors)
    status, _, errors = baton(home, repository.folder, "start", "1")
    assert status == EXIT["not_found"] and "run baton init there" in errors, errors
    status, _, errors = baton(home, repository.folder, "init", "--yes")
    assert status == EXIT["usage"] and "--driver" in errors, errors
    status, _, errors = baton(home, repository.folder, "start")
    assert status == EXIT["usage"] and "--title" in errors, errors
    (repository.folder.parent / "empty.md").write_text(" \n")
    status, _, errors = baton(home, repository.folder, "start", "1", "--plan", "../empty.md")
    assert status != 0 and "the plan is empty" in errors, errors


def test_a_profile_is_not_replaced_in_passing(home, repository):
    server = home.serve()
    profile(server, repository)
    status, _, errors = baton(home, repository.folder, "init", "--yes", "--driver", "script", "--model", "play")
    assert status == EXIT["conflict"] and "profile team has this repository already" in errors, errors
    status, output, errors = baton(home, repository.folder, "init", "--yes", "--force", "--driver", "script", "--model", "play")
    assert status == 0 and output.startswith("profile team: "), errors


def test_uncommitted_changes_are_reviewed_and_stay(home, repository):
    from test_pipelines import reviewing
    server = home.serve()
    profile(server, repository, reviewing())
    status, _, errors = baton(home, repository.folder, "review", "--local")
    assert status == EXIT["usage"] and "no uncommitted changes" in errors, errors
    repository.write("greeting.txt", "hi\n")
    repository.write("README.md", "# changed\n")
    before = repository.git("status", "--porcelain")
    status, output, errors = baton(home, repository.folder, "review", "--local", "--task", "Greet people")
    assert status == 0, errors
    outputs = json.loads(output)
    assert outputs["approved"] is False and len(outputs["comments"]) == 3
    assert repository.git("status", "--porcelain") == before


def test_approve_shows_what_changed_in_a_plan(home, repository):
    architect = script({"turn": 1, "contains": "shorter", "calls": [plan_call(task(1, "Write the greeting"))]}, {"text": "The plan is written."})
    architect = json.loads(json.dumps(architect).replace('"PLANPATH"', '"docs/plans/plan.md"'))
    server = home.serve()
    profile(server, repository, team(architect=architect), plan_path_pattern="docs/plans/plan.md")
    run = implement(server)
    first = gate(server, run)
    last = server.events(run)[-1]["seq"]
    status, _, errors = baton(home, repository.folder, "reject", run, "-m", "make it shorter")
    assert status == 0, errors
    server.follow(run, "human.requested", last=last)
    status, _, errors = baton(home, repository.folder, "approve", run)
    assert status == 0 and "what changed since revision 1:" in errors and "-### Task 2: Write the farewell" in errors, errors
    assert first["inputs"]["plan_revision"] == 1
    server.finish(run)


def test_a_model_over_http_takes_an_issue_to_commits(home, repository):
    with FakeProvider() as provider:
        server = home.serve(BATON_SECRETS_ALLOW="CANARY_KEY", CANARY_KEY="sk-canary")
        model = {"driver": "api:custom", "model": "m1", "options": {"base_url": provider.base, "format": "messages", "api_key": "env:CANARY_KEY"}}
        profile(server, repository, {name: model for name in team()}, plan_path_pattern="docs/plans/plan.md")

        def says(**reply):
            provider.then(**{**reply, **({"calls": [(f"c{n}", one["name"], json.dumps(one["arguments"])) for n, one in enumerate(reply["calls"])]}
                                         if "calls" in reply else {})})

        plan = json.loads(json.dumps(plan_call(task(1, "Write the greeting"))).replace("PLANPATH", "docs/plans/plan.md"))
        says(text="I plan.", calls=[plan])
        says(text="The plan is written.")
        says(text="I write.", calls=[{"name": "write_file", "arguments": {"path": "greeting.txt", "content": "hello\n"}}])
        says(text="Done.")
        says(text="Good.", calls=[{"name": "submit", "arguments": {"result": {"approved": True, "severity": "none", "comments": []}}}])
        run = implement(server, plan="", auto_approve=True)
        server.finish(run)
        outline = server.get(f"/api/runs/{run}/steps").body
        assert outline["state"] == "succeeded", outline
        assert repository.subjects("baton/GREET-1") == ["feat(GREET-1): complete task 1"]
        assert len(provider.requests) == 5
        assert "Write the greeting" in json.dumps(provider.requests[2]["body"])
