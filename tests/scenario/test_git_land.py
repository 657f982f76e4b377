"""What the commits of a run have changed, over HTTP, and baton land, which brings them to the user's branch."""
import subprocess

import pytest
from baton import EXIT, POINTS, PROGRAM, environment, new_id
from test_git_worktree import Repository, one_repository, server_with_profile, work  # noqa: F401


# ---- what a run has changed ------------------------------------------------------------------------------


def test_the_files_and_the_diff_of_a_run_can_be_read(home, ready, repository):
    result = work(ready, command="echo changed >>app.py; printf '\\0' >bin; git mv AGENTS.md docs.md")
    run, outputs = result["run_id"], result["outputs"]
    answer = ready.get(f"/api/runs/{run}/files")
    assert answer.status == 200 and answer.body == {
        "branch": "baton/123", "base_commit": outputs["checkout"]["base_commit"], "base_branch": "main", "commit": outputs["commit"],
        "files": [{"path": "app.py", "status": "modified", "added": 1, "deleted": 0}, {"path": "bin", "status": "added"},
                  {"path": "docs.md", "old_path": "AGENTS.md", "status": "renamed", "added": 0, "deleted": 0}],
        "files_truncated": False}
    diff = ready.get(f"/api/runs/{run}/diff?path=app.py").body
    assert diff["diff"].endswith("@@ -1,2 +1,3 @@\n def add(a, b):\n     return a - b\n+changed\n") and diff["truncated"] is False
    assert [file["path"] for file in diff["files"]] == ["app.py"]
    same = ready.get(f"/api/runs/{run}/diff?base={outputs['commit']}").body
    assert same["files"] == [] and same["diff"] == ""
    assert ready.get(f"/api/runs/{run}/diff?commit=nowhere").status == 404
    assert ready.get(f"/api/runs/{run}/diff?base=--output").status in (400, 422)
    # A workspace without the clone: the branch of the repository has the same.
    (home.workspace(run, ".git") / "baton").unlink()
    assert ready.get(f"/api/runs/{run}/files").body == answer.body


def test_a_run_without_a_repository_has_no_files(home, server):
    home.define("name: plain\nsteps:\n  - {name: one, tool: noop}\n")
    run = server.start("plain", wait=True).body["run_id"]
    answer = server.get(f"/api/runs/{run}/files")
    assert answer.status == 404 and "git_checkout makes one" in str(answer.body)
    assert server.get(f"/api/runs/{new_id()}/files").status == 404


# ---- landing ---------------------------------------------------------------------------------------------------


def land(home, folder, *words):
    return subprocess.run([PROGRAM, "--home", home.data, "land", *words], cwd=getattr(folder, "path", folder), capture_output=True, text=True, check=False,
                          env=environment(BATON_POINTS=POINTS, GIT_CONFIG_GLOBAL="/dev/null"))


@pytest.fixture(name="done")
def run_that_is_done(ready):
    return work(ready)["run_id"]


def test_a_run_is_merged(home, repository, done):
    landed = land(home, repository, done)
    assert landed.returncode == 0, landed
    assert "landed baton/123 on main at " in landed.stdout and "Change the app" in landed.stdout
    assert repository.git("log", "--format=%s", "--first-parent").split("\n") == ["Merge branch 'baton/123' into main", "first"]
    assert f"Baton-Run: {done}" in repository.git("log", "-1", "--format=%B") and repository.git("status", "--porcelain") == ""
    again = land(home, repository, done)
    assert again.returncode == 0 and again.stdout == "main has all commits of baton/123 already\n"


def test_a_run_is_rebased(home, repository, done):
    repository.write("other", "x\n")
    repository.commit("other")
    assert land(home, repository, done, "--rebase").returncode == 0
    assert repository.git("log", "--format=%s").split("\n") == ["Change the app", "other", "first"]
    assert repository.git("log", "--format=%s", "baton/123").split("\n") == ["Change the app", "first"]


def test_a_run_is_squashed_into_another_branch(home, repository, done):
    repository.git("branch", "release")
    landed = land(home, repository, done, "--squash", "--into", "release", "--json")
    assert landed.returncode == 0, landed
    assert repository.git("rev-parse", "--abbrev-ref", "HEAD") == "release"
    assert repository.git("log", "--format=%s").split("\n") == ["Squash branch 'baton/123' into release", "first"]
    assert repository.git("show", "release:new.py") == "new" and repository.git("log", "--format=%s", "main") == "first"


@pytest.mark.parametrize("how", [[], ["--rebase"], ["--squash"], ["--into", "main"]])
def test_a_conflict_leaves_everything_as_it_was(home, repository, done, how):
    repository.write("app.py", "something else\n")
    repository.commit("other")
    if how == ["--into", "main"]:
        repository.git("checkout", "-q", "-b", "topic")
    repository.write("untracked", "x\n")
    head, branch = repository.git("rev-parse", "HEAD"), repository.git("symbolic-ref", "HEAD")
    landed = land(home, repository, done, *how)
    assert landed.returncode == EXIT["conflict"] and "both have changed app.py; everything is as it was" in landed.stderr, landed
    assert repository.git("rev-parse", "HEAD") == head and repository.git("symbolic-ref", "HEAD") == branch
    assert repository.git("status", "--porcelain") == "?? untracked"
    assert not (repository.path / ".git/MERGE_HEAD").exists() and not (repository.path / ".git/CHERRY_PICK_HEAD").exists()


def test_landing_needs_a_clean_repository(home, repository, done, tmp_path):
    repository.write("app.py", "changed\n")
    assert "the repository has uncommitted changes (1 file); commit or stash them" in land(home, repository, done).stderr
    repository.git("checkout", "-q", "--", ".")
    repository.git("bisect", "start")
    assert "a bisect is in progress in the repository; finish it with git bisect reset" in land(home, repository, done).stderr
    repository.git("bisect", "reset")
    repository.git("checkout", "-q", "--detach")
    assert "the repository is not on a branch" in land(home, repository, done).stderr
    repository.git("checkout", "-q", "baton/123")
    assert "baton/123 is the branch of the run itself" in land(home, repository, done).stderr
    assert "the current folder is not in a git repository" in land(home, tmp_path, done).stderr
    other = Repository(tmp_path / "other")
    assert "this repository has no branch baton/123" in land(home, other, done).stderr
    assert repository.git("log", "--format=%s", "main") == "first"


def test_landing_needs_no_server(home, ready, repository, done):
    ready.kill()
    assert land(home, repository, done).returncode == 0
    assert repository.git("log", "-1", "--format=%s") == "Merge branch 'baton/123' into main"
