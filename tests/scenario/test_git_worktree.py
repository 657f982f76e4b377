"""A run works on a clone of the user's repository, on a branch of its own, and publishes its commits there."""
import contextlib
import hashlib
import os
import subprocess

import pytest
from baton import Gone, killed, new_id

WORK = """
name: work
inputs:
  branch: {type: string, default: baton/123}
  dirty: {type: boolean, default: false}
  command: {type: string, default: "echo changed >>app.py && echo new >new.py"}
steps:
  - name: checkout
    tool: git_checkout
    inputs: {branch: "${inputs.branch}", allow_dirty: "${inputs.dirty}"}
  - {name: edit, tool: shell, depends_on: [checkout], inputs: {command: "${inputs.command}"}}
  - {name: diff, tool: git_diff, depends_on: [edit], inputs: {base: "${steps.checkout.outputs.base_commit}", untracked: true}}
  - {name: hooks, tool: git_hooks, depends_on: [diff], inputs: {message: "Change the app"}}
  - {name: commit, tool: git_commit, depends_on: [hooks], inputs: {message: "${steps.hooks.outputs.message}"}}
  - {name: publish, tool: git_publish, depends_on: [commit]}
outputs:
  checkout: {from: "${steps.checkout.outputs}"}
  diff: {from: "${steps.diff.outputs}"}
  hooks: {from: "${steps.hooks.outputs}"}
  commit: {from: "${steps.commit.outputs.commit}"}
  publish: {from: "${steps.publish.outputs}"}
"""

ENVIRONMENT = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z",
               "GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z"}


class Repository:
    def __init__(self, path):
        self.path = path
        path.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "Ada")
        self.git("config", "user.email", "ada@example.org")
        self.write("app.py", "def add(a, b):\n    return a - b\n")
        self.write("AGENTS.md", "Write tests.\n")
        self.commit("first")

    def git(self, *words, check=True):
        done = subprocess.run(["git", "-c", "protocol.file.allow=always", *words], cwd=self.path, env=ENVIRONMENT, capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0 or not check, done
        return done.stdout.strip()

    def write(self, name, text, mode=0o644):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def hook(self, name, text):
        self.write(f".git/hooks/{name}", "#!/bin/sh\n" + text, 0o755)

    def state(self):
        """Everything that is the user's: files, index, configuration, HEAD, hooks and the branches that are not a run's."""
        found = {}
        for path in sorted(self.path.rglob("*")):
            name = str(path.relative_to(self.path))
            if name.startswith((".git/objects", ".git/refs/heads/baton", ".git/logs/refs/heads/baton")) or path.is_dir():
                continue
            status = path.lstat()
            content = os.readlink(path) if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest()
            found[name] = (status.st_mode, status.st_uid, status.st_gid, status.st_mtime_ns, content)
        return found


@pytest.fixture(name="repository")
def one_repository(tmp_path):
    return Repository(tmp_path / "re po")


def use_profile(server, folder, name="work"):
    made = server.request("PUT", f"/api/profiles/{name}", {"name": name, "repo_root": str(folder)})
    assert made.status in (200, 201), made


@pytest.fixture(name="ready")
def server_with_profile(home, server, repository):
    home.define(WORK)
    use_profile(server, repository.path)
    return server


def work(server, **inputs):
    return server.start("work", inputs, wait=True).body


def failure(server, **inputs):
    result = work(server, **inputs)
    assert result["status"] == "failed", result
    return str(result)


# ---- what a run does --------------------------------------------------------------------------


def test_commits_of_a_run_come_back_on_a_branch_of_its_own(home, ready, repository):
    before, base = repository.state(), repository.git("rev-parse", "HEAD")
    result = work(ready)
    assert result["status"] == "success", result
    outputs = result["outputs"]
    assert outputs["checkout"]["branch"] == "baton/123" and outputs["checkout"]["base_branch"] == "main"
    assert outputs["checkout"]["base_commit"] == base == outputs["checkout"]["commit"]
    assert outputs["checkout"]["conventions"] == [{"path": "AGENTS.md", "text": "Write tests.\n", "truncated": False}]
    assert outputs["checkout"]["warnings"] == []
    assert [change["path"] for change in outputs["diff"]["files"]] == ["app.py", "new.py"]
    assert "+new\n" in outputs["diff"]["diff"] and "+changed\n" in outputs["diff"]["diff"]
    assert outputs["hooks"] == {"ran": False, "changed": False, "files": [], "files_truncated": False, "stdout": "", "message": "Change the app"}
    assert outputs["publish"] == {"branch": "baton/123", "commit": outputs["commit"], "previous": base}
    assert repository.git("rev-parse", "baton/123") == outputs["commit"] and repository.git("rev-parse", "baton/123^") == base
    assert repository.git("log", "-1", "--format=%an <%ae> %s", "baton/123") == "Ada <ada@example.org> Change the app"
    assert repository.git("show", "baton/123:new.py") == "new"
    assert repository.git("rev-parse", "--abbrev-ref", "HEAD") == "main" and repository.git("rev-parse", "main") == base
    assert repository.state() == before
    repository.git("fsck", "--strict")
    assert not list(home.workspace(result["run_id"], ".git/objects").glob("info/alternates"))


def test_a_branch_that_is_taken_gets_a_number(ready, repository):
    repository.git("branch", "baton/123")
    repository.git("pack-refs", "--all")
    assert work(ready)["outputs"]["checkout"]["branch"] == "baton/123-2"
    assert work(ready)["outputs"]["publish"]["branch"] == "baton/123-3"
    assert repository.git("rev-parse", "baton/123") == repository.git("rev-parse", "main")


def test_without_a_name_the_branch_has_the_beginning_of_the_runs_id(home, ready):
    home.define("name: plain\nsteps:\n  - {name: checkout, tool: git_checkout}\noutputs:\n  branch: {from: '${steps.checkout.outputs.branch}'}\n")
    result = ready.start("plain", wait=True).body
    assert result["outputs"]["branch"] == "baton/" + result["run_id"][:8]


def test_a_second_checkout_of_a_run_finds_its_work_tree(home, ready, repository):
    home.define("""
name: twice
steps:
  - {name: one, tool: git_checkout, inputs: {branch: b}}
  - {name: edit, tool: shell, depends_on: [one], inputs: {command: echo x >x}}
  - {name: two, tool: git_checkout, depends_on: [edit], inputs: {branch: b}}
  - {name: look, tool: git_status, depends_on: [two]}
outputs:
  one: {from: "${steps.one.outputs}"}
  two: {from: "${steps.two.outputs}"}
  look: {from: "${steps.look.outputs.entries}"}
""")
    outputs = ready.start("twice", wait=True).body["outputs"]
    assert outputs["one"] == outputs["two"] and [entry["path"] for entry in outputs["look"]] == ["x"]
    assert repository.git("branch", "--list", "b*").split() == ["b"]


def test_a_pass_is_compared_with_the_state_before_it_and_undone(home, ready):
    home.define("""
name: passes
steps:
  - {name: checkout, tool: git_checkout}
  - {name: first, tool: shell, depends_on: [checkout], inputs: {command: "echo one >>app.py; echo one >one"}}
  - {name: snapshot, tool: git_snapshot, depends_on: [first]}
  - {name: second, tool: shell, depends_on: [snapshot], inputs: {command: "echo two >>one; echo two >two; rm AGENTS.md"}}
  - {name: diff, tool: git_diff, depends_on: [second], inputs: {base: "${steps.snapshot.outputs.tree}", untracked: true}}
  - {name: restore, tool: git_restore, depends_on: [diff], inputs: {commit: "${steps.snapshot.outputs.tree}"}}
  - {name: look, tool: shell, depends_on: [restore], inputs: {command: "ls; cat one"}}
  - {name: back, tool: git_restore, depends_on: [look]}
  - {name: status, tool: git_status, depends_on: [back]}
outputs:
  diff: {from: "${steps.diff.outputs.files}"}
  restore: {from: "${steps.restore.outputs.files}"}
  look: {from: "${steps.look.outputs.stdout}"}
  clean: {from: "${steps.status.outputs.clean}"}
  snapshot: {from: "${steps.snapshot.outputs}"}
  base: {from: "${steps.checkout.outputs.commit}"}
""")
    result = ready.start("passes", wait=True).body
    outputs = result["outputs"]
    assert [(change["path"], change["added"], change["deleted"]) for change in outputs["diff"]] == [("AGENTS.md", 0, 1), ("one", 1, 0), ("two", 1, 0)]
    assert [change["path"] for change in outputs["restore"]] == ["AGENTS.md", "one", "two"]
    assert outputs["look"] == "AGENTS.md\napp.py\none\none\n" and outputs["clean"] is True
    assert outputs["snapshot"]["commit"] == outputs["base"] != outputs["snapshot"]["tree"]


# ---- repositories that are not ready ----------------------------------------------------------------


def test_uncommitted_changes_are_refused_unless_allowed(ready, repository):
    repository.write("app.py", "changed\n")
    repository.write("AGENTS.md", "changed\n")
    repository.write("untracked", "x\n")
    before = repository.state()
    assert "conflict: step checkout: the repository has uncommitted changes (2 files, first: AGENTS.md); commit or stash them, or use --dirty " \
           "to work from the last commit without them" in failure(ready)
    assert repository.git("branch", "--list", "baton/*") == ""
    result = work(ready, dirty=True)
    assert result["status"] == "success" and "+changed\n" in result["outputs"]["diff"]["diff"]
    assert repository.git("show", "baton/123:app.py") == "def add(a, b):\n    return a - b\nchanged"
    assert repository.state() == before


def test_untracked_files_are_not_uncommitted_changes(ready, repository):
    repository.write("untracked", "x\n")
    assert work(ready)["status"] == "success"


def test_a_detached_head_is_refused_unless_a_base_is_named(home, ready, repository):
    commit = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "-q", "--detach")
    assert f"the repository is not on a branch (HEAD is at {commit[:7]}); check out a branch, or name the base with --base" in failure(ready)
    home.define("name: based\nsteps:\n  - {name: checkout, tool: git_checkout, inputs: {base: main}}\n"
                "outputs:\n  all: {from: '${steps.checkout.outputs}'}\n")
    outputs = ready.start("based", wait=True).body["outputs"]["all"]
    assert outputs["base_commit"] == commit and outputs["base_branch"] == "main"


OPERATIONS = {
    "rebase": ("git rebase main", "a rebase is in progress in the repository; finish it with git rebase --continue or --abort"),
    "merge": ("git merge main", "a merge is in progress in the repository; finish it with git merge --continue or --abort"),
    "cherry-pick": ("git cherry-pick main", "a cherry-pick is in progress in the repository; finish it with git cherry-pick --continue or --abort"),
    "revert": ("git revert --no-edit HEAD~1", "a revert is in progress in the repository; finish it with git revert --continue or --abort"),
    "bisect": ("git bisect start", "a bisect is in progress in the repository; finish it with git bisect reset"),
}


@pytest.mark.parametrize("name", list(OPERATIONS))
def test_an_operation_in_progress_is_refused(ready, repository, name):
    command, message = OPERATIONS[name]
    repository.git("checkout", "-q", "-b", "topic")
    repository.write("app.py", "theirs\n")
    repository.commit("theirs")
    repository.write("app.py", "third\n")
    repository.commit("third")
    repository.git("checkout", "-q", "main")
    repository.write("app.py", "ours\n")
    repository.commit("ours")
    repository.git("checkout", "-q", "topic")
    repository.git(*command.split()[1:], check=False)
    assert message in failure(ready, dirty=True)


def test_a_folder_that_is_no_repository_is_refused(home, server, tmp_path):
    home.define(WORK)
    folder = tmp_path / "notes"
    folder.mkdir()
    use_profile(server, folder)
    assert f"not_found: step checkout: {folder} is not in a git repository; run git init, or name one in the profile (repo_root)" in failure(server)


def test_a_run_without_a_profile_is_refused(home, server):
    home.define(WORK)
    assert "the run has no repository: start it with a profile that names one" in failure(server)


def test_a_bare_repository_is_refused(home, server, repository, tmp_path):
    home.define(WORK)
    repository.git("clone", "-q", "--bare", ".", str(tmp_path / "bare"))
    use_profile(server, tmp_path / "bare")
    assert f"{tmp_path}/bare is a bare repository, which has no files to work on" in failure(server)


def test_a_repository_without_commits_is_refused(home, server, tmp_path):
    home.define(WORK)
    (tmp_path / "new").mkdir()
    subprocess.run(["git", "init", "-q", tmp_path / "new"], check=True, env=ENVIRONMENT)
    use_profile(server, tmp_path / "new")
    assert "the repository has no commit yet; make one with git commit" in failure(server)


@pytest.mark.parametrize("name", ["a b", "-x", "a..b", "x.lock", "a/", "HEAD", "a\nb", "refs/heads/a"])
def test_a_name_that_git_refuses_is_refused(ready, name):
    assert "is not a name for a branch" in failure(ready, branch=name)


def test_a_branch_below_a_branch_is_refused(ready, repository):
    repository.git("branch", "baton")
    assert "the branch baton/123 cannot be created in the repository" in failure(ready)


def test_a_repository_that_borrows_objects_is_refused(home, server, repository, tmp_path):
    home.define(WORK)
    repository.git("clone", "-q", "--shared", ".", str(tmp_path / "shared"))
    use_profile(server, tmp_path / "shared")
    assert "borrows objects of another one (objects/info/alternates)" in failure(server)


def test_a_repository_that_is_too_large_is_refused(home, ready, repository):
    blob = repository.git("hash-object", "-w", "app.py")
    lines = "".join(f"100644 blob {blob}\tfile-{number}\n" for number in range(100001))
    tree = subprocess.run(["git", "mktree"], input=lines, cwd=repository.path, capture_output=True, text=True, check=True).stdout.strip()
    repository.git("branch", "huge", repository.git("commit-tree", "-m", "huge", tree))
    home.define("name: huge\nsteps:\n  - {name: checkout, tool: git_checkout, inputs: {base: huge}}\n")
    result = ready.start("huge", wait=True).body
    assert "the repository is too large: 100001 files with 3200032 bytes, and a run can have 100000 files with 1073741824 bytes" in str(result), result
    assert repository.git("branch", "--list", "baton/*") == ""


# ---- unusual repositories -----------------------------------------------------------------------------


def test_submodules_are_not_checked_out_and_that_is_said(ready, repository, tmp_path):
    other = Repository(tmp_path / "other")
    repository.git("submodule", "--quiet", "add", str(other.path), "libs/other")
    repository.commit("add a submodule")
    result = work(ready)
    assert result["status"] == "success", result
    assert result["outputs"]["checkout"]["warnings"] == ["submodules are not checked out, their folders are empty: libs/other"]
    assert repository.git("diff", "--name-only", "main", "baton/123").split() == ["app.py", "new.py"]


def test_files_of_git_lfs_are_pointers_and_that_is_said(ready, repository):
    repository.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    repository.write("big.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 5\n")
    repository.commit("large files")
    result = work(ready)
    assert result["status"] == "success", result
    assert result["outputs"]["checkout"]["warnings"] == [
        "1 files are stored with Git LFS (first: big.bin); the work tree has their pointers, not their content"]
    assert repository.git("diff", "--name-only", "main", "baton/123").split() == ["app.py", "new.py"]
    assert "big.bin is stored with Git LFS, and git_commit would commit its content" in failure(ready, command="echo content >big.bin")


def test_a_linked_worktree_and_a_folder_below_work(home, server, repository, tmp_path):
    home.define(WORK)
    repository.write("sub/dir/file", "x\n")
    repository.commit("sub")
    repository.git("worktree", "add", "-q", "-b", "topic", str(tmp_path / "linked"))
    use_profile(server, tmp_path / "linked" / "sub" / "dir")
    before = repository.state()
    outputs = work(server)["outputs"]
    assert outputs["checkout"]["base_branch"] == "topic"
    assert repository.git("rev-parse", "baton/123") == outputs["commit"]
    assert repository.state() == before


def test_names_of_any_kind_work(ready, repository):
    repository.write("a b/new\nline \"q\" ü", "x\n")
    (repository.path / "link").symlink_to("/etc/passwd")
    repository.commit("names")
    outputs = work(ready)["outputs"]
    assert repository.git("diff", "--name-status", "main", "baton/123").split() == ["M", "app.py", "A", "new.py"]
    assert outputs["publish"]["branch"] == "baton/123"


def test_a_shallow_repository_works(home, server, repository, tmp_path):
    repository.write("app.py", "second\n")
    repository.commit("second")
    home.define(WORK)
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{repository.path}", tmp_path / "shallow"], check=True, env=ENVIRONMENT)
    use_profile(server, tmp_path / "shallow")
    result = work(server)
    assert result["status"] == "success", result


def test_programs_of_the_repositorys_configuration_do_not_run(ready, repository, tmp_path):
    trap = tmp_path / "ran"
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        repository.hook(name, f"touch '{trap}'\n")
    repository.git("config", "filter.x.clean", f"touch '{trap}'; cat")
    repository.git("config", "filter.x.smudge", f"touch '{trap}'; cat")
    repository.git("config", "core.fsmonitor", f"touch '{trap}'; false")
    repository.write(".git/info/attributes", "* filter=x\n")
    trap.unlink(missing_ok=True)
    assert work(ready)["status"] == "success"
    assert not trap.exists()


LIMITS = {"uid": {"BATON_SANDBOX_LIMITS": "uid"}, "rlimit": {}, "off": {"BATON_TOOLS_ISOLATION": "off"}}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("owner", [0, 4242])
@pytest.mark.parametrize("name", list(LIMITS))
def test_a_server_of_root_works_as_the_owner_of_the_repository(home, repository, name, owner):
    for folder, folders, files in os.walk(repository.path):
        for entry in [".", *folders, *files]:
            os.lchown(os.path.join(folder, entry), owner, owner)
    # Without uids, root has none of its rights in the sandbox.
    repository.path.chmod(0o755 if (name, owner) == ("rlimit", 4242) else 0o700)
    before = repository.state()
    home.define(WORK)
    server = home.serve(**LIMITS[name])
    use_profile(server, repository.path)
    result = work(server)
    assert result["status"] == "success", result
    assert repository.state() == before
    assert len(server.get(f"/api/runs/{result['run_id']}/files").body["files"]) == 2
    if name != "off":  # without isolation the server writes as itself
        owners = {os.lstat(os.path.join(folder, entry)).st_uid for folder, folders, files in os.walk(repository.path) for entry in folders + files}
        assert owners == {owner}


# ---- hooks -------------------------------------------------------------------------------------------------


def test_files_that_a_hook_changes_are_added_once(ready, repository):
    repository.hook("pre-commit", 'git diff --cached --name-only; grep -q formatted app.py && exit 0; echo "# formatted" >>app.py; exit 1\n')
    result = work(ready)
    assert result["status"] == "success", result
    hooks = result["outputs"]["hooks"]
    assert hooks["ran"] and hooks["changed"] and [change["path"] for change in hooks["files"]] == ["app.py"]
    assert hooks["stdout"] == "app.py\nnew.py\n" * 2
    assert repository.git("show", "baton/123:app.py").endswith("changed\n# formatted")


def test_a_hook_that_fails_ends_the_step_with_its_output(ready, repository):
    repository.hook("pre-commit", "echo no tabs, please; exit 3\n")
    assert "tool_failed: step hooks: the pre-commit hook failed with exit status 3: no tabs, please" in failure(ready)
    repository.hook("pre-commit", "echo x >>app.py; exit 4\n")
    assert "the pre-commit hook failed with exit status 4 again after the files that it changed were staged" in failure(ready)
    repository.hook("pre-commit", "exit 0\n")
    repository.hook("commit-msg", 'echo "the message needs a number"; exit 1\n')
    assert "the commit-msg hook failed with exit status 1: the message needs a number" in failure(ready)


def test_the_commit_msg_hook_may_change_the_message(ready, repository):
    repository.hook("commit-msg", 'echo "Change-Id: 1" >>"$1"\n')
    assert work(ready)["status"] == "success"
    assert "Change the app\nChange-Id: 1" in repository.git("log", "-1", "--format=%B", "baton/123")


def test_hooks_in_a_folder_of_the_repository_run(ready, repository):
    repository.write(".githooks/pre-commit", '#!/bin/sh\n. "$(dirname "$0")/common"\n', 0o755)
    repository.write(".githooks/common", "echo shared\n")
    repository.git("config", "core.hooksPath", ".githooks")
    repository.commit("hooks")
    assert work(ready)["outputs"]["hooks"]["stdout"] == "shared\n"


def test_a_hook_cannot_leave_the_sandbox(ready, repository, tmp_path):
    repository.hook("pre-commit", f"echo x >'{tmp_path}/out'; echo x >'{repository.path}/out'; exit 0\n")
    before = repository.state()
    assert work(ready)["status"] == "success"
    assert repository.state() == before and not (tmp_path / "out").exists()


# ---- publishing --------------------------------------------------------------------------------------------


def move_while_running(home, server, repository, between):
    """A run that waits before it publishes; `between` happens meanwhile."""
    home.define(WORK.replace("depends_on: [commit]}", "depends_on: [ask]}").replace(
        "outputs:\n", '  - {name: ask, human: {question: "Go on?"}, depends_on: [commit]}\noutputs:\n', 1).replace("name: work", "name: asks"))
    run = server.start("asks").body["run_id"]
    asked = server.until(run, "human.requested")["data"]
    between()
    assert server.respond(asked["effect"], revision=asked["revision"]).status == 200
    return server.finish(run)


def test_a_branch_that_was_moved_by_another_is_a_conflict(home, ready, repository):
    def amend():
        repository.git("checkout", "-q", "baton/123")
        repository.write("other", "x\n")
        repository.commit("other")
        repository.git("checkout", "-q", "main")
    result = move_while_running(home, ready, repository, amend)
    moved = repository.git("rev-parse", "baton/123")
    assert result["status"] == "failed" and f"the branch baton/123 was moved to {moved} in the meantime, and the run has " in str(result)


def test_a_branch_that_is_checked_out_is_not_moved(home, ready, repository):
    result = move_while_running(home, ready, repository, lambda: repository.git("checkout", "-q", "baton/123"))
    assert f"the branch baton/123 is checked out in {repository.path}, whose files would not follow" in str(result)
    assert repository.git("status", "--porcelain") == ""


def test_a_branch_that_is_gone_is_not_made_again(home, ready, repository):
    result = move_while_running(home, ready, repository, lambda: repository.git("branch", "-q", "-D", "baton/123"))
    assert "the branch baton/123 is gone from the repository" in str(result)


def test_only_a_branch_that_the_run_made_is_moved(home, ready, repository):
    home.define("""
name: steals
steps:
  - {name: checkout, tool: git_checkout}
  - {name: edit, tool: shell, depends_on: [checkout], inputs: {command: "echo x >x; git checkout -q -b main2; git branch -M main"}}
  - {name: commit, tool: git_commit, depends_on: [edit], inputs: {message: mine}}
  - {name: publish, tool: git_publish, depends_on: [commit], inputs: {branch: main}}
""")
    before = repository.git("rev-parse", "main")
    result = ready.start("steals", wait=True).body
    assert "the branch main was not made by this run, so it is not touched" in str(result)
    assert repository.git("rev-parse", "main") == before


def test_damaged_commits_are_not_published(home, ready, repository):
    home.define("""
name: damages
steps:
  - {name: checkout, tool: git_checkout}
  - name: edit
    tool: shell
    depends_on: [checkout]
    inputs:
      command: |
        blob=$(echo evil | git hash-object -w --stdin)
        tree=$(printf '100644 blob %s\\t.gitmodules\\n' $(printf '[submodule "../x"]\\n\\tpath = ../x\\n\\turl = -u\\n' | git hash-object -w --stdin) | git mktree)
        git update-ref HEAD $(git -c user.name=a -c user.email=b commit-tree -p HEAD -m evil $tree)
  - {name: publish, tool: git_publish, depends_on: [edit]}
""")
    result = ready.start("damages", wait=True).body
    assert "git does not accept the objects of the run's commits" in str(result), result
    branch = repository.git("for-each-ref", "--format=%(objectname)", "refs/heads/baton")
    assert branch == repository.git("rev-parse", "main")


# ---- many runs, and kills --------------------------------------------------------------------------------------


def test_ten_runs_at_once_have_ten_branches(ready, repository):
    before = repository.state()
    runs = [ready.start("work", {"command": f"echo {number} >>app.py"}).body["run_id"] for number in range(10)]
    results = [ready.finish(run) for run in runs]
    assert [result["status"] for result in results] == ["success"] * 10, results
    branches = {result["outputs"]["publish"]["branch"] for result in results}
    assert branches == {"baton/123", *(f"baton/123-{number}" for number in range(2, 11))}
    for result in results:
        assert repository.git("rev-parse", result["outputs"]["publish"]["branch"]) == result["outputs"]["commit"]
        assert repository.git("log", "--format=%s", result["outputs"]["publish"]["branch"]).split("\n") == ["Change the app", "first"]
    assert repository.state() == before
    repository.git("fsck", "--strict")


KILLS = ["tool.after_spawn=kill", "tool.git_ended=kill", "tool.git_claimed=kill", "tool.after_spawn=kill@2", "tool.git_ended=kill@2", "tool.ended=kill",
         "tool.git_packed=kill", "tool.ended=kill@6", "tool.before_start=kill@6"]


@pytest.mark.parametrize("point", KILLS)
def test_a_kill_during_checkout_or_publish_changes_nothing(home, repository, point):
    before = repository.state()
    home.define(WORK)
    run = new_id()
    server = home.serve(BATON_POINTS=point)
    use_profile(server, repository.path)
    with contextlib.suppress(Gone):
        server.start("work", run_id=run)
    assert killed(server), server.errors()
    result = home.serve().finish(run)
    assert result["status"] == "success", result
    assert result["outputs"]["publish"]["branch"] == "baton/123"
    assert repository.git("for-each-ref", "--format=%(refname)", "refs/heads").split() == ["refs/heads/baton/123", "refs/heads/main"]
    assert repository.git("log", "--format=%s", "baton/123").split("\n") == ["Change the app", "first"]
    assert repository.git("rev-parse", "baton/123") == result["outputs"]["commit"]
    assert not home.workspace(run, ".git.baton").exists()
    assert repository.state() == before


def test_a_lock_that_a_killed_publish_left_does_not_stop_the_next(home, ready, repository):
    def lock():
        left = repository.path / ".git/refs/heads/baton/123.lock"
        left.write_text("")
        os.utime(left, (1, 1))
    assert move_while_running(home, ready, repository, lock)["status"] == "success"
