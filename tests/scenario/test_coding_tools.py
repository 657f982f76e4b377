"""The tools that agents write code with: files, search, git, plans."""
import contextlib
import subprocess

import pytest
from baton import Gone, killed, new_id
from test_tools import finish, of_type, run

# A workspace with some files and a repository, then one call of a tool.
SETUP = """name: one
steps:
  - name: setup
    tool: shell
    inputs:
      command: |
        git init -q -b main . && git config user.name Ada && git config user.email ada@example.org
        mkdir -p src node_modules && printf 'int one;\\nint two;\\n' >src/a.c && echo 'int three;' >src/b.c
        echo 'int two;' >node_modules/x.c && echo node_modules/ >.gitignore
        git add -A && git commit -q -m first
        %s
  - name: step
    tool: %s
    depends_on: [setup]
    inputs: %s
outputs:
  all: {from: '${steps.step.outputs}'}
"""


def definition(tool, inputs, more="true"):
    return SETUP % (more, tool, inputs)


def use(home, server, tool, inputs, more="true"):
    home.define(definition(tool, inputs, more))
    result = server.start("one", wait=True).body
    return result, (result.get("outputs") or {}).get("all")


def kill_at(home, rule, text):
    """Runs into the failpoint; gives the run's id once the program is dead."""
    run_id = new_id()
    home.define(text)
    server = home.serve(BATON_POINTS=rule)
    with contextlib.suppress(Gone):
        server.start("one", run_id=run_id)
    assert killed(server), server.errors()
    return run_id


def git(home, run_id, *words):
    return subprocess.run(["git", "-c", "safe.directory=*", *words], cwd=home.workspace(run_id, "."), capture_output=True, text=True,
                          check=True).stdout


def test_a_text_is_replaced(home, server):
    result, output = use(home, server, "edit_file", "{path: src/a.c, old_text: int two, new_text: long two}")
    assert output["replacements"] == 1 and not output["created"], result
    assert output["diff"] == "@@ -1,2 +1,2 @@\n int one;\n-int two;\n+long two;\n"
    assert home.workspace(result["run_id"], "src/a.c").read_text() == "int one;\nlong two;\n"


def test_a_text_that_occurs_twice_changes_nothing(home, server):
    result, _ = use(home, server, "edit_file", "{path: src/a.c, old_text: int, new_text: long}")
    assert result["status"] == "failed"
    assert "old_text occurs 2 times in src/a.c, at lines 1, 2" in str(result), result
    assert home.workspace(result["run_id"], "src/a.c").read_text() == "int one;\nint two;\n"


def test_an_edit_that_a_kill_interrupted_is_made_once(home):
    run_id = kill_at(home, "tool.ended=kill@2", definition("edit_file", "{path: src/a.c, old_text: one, new_text: one_one}"))
    result, events = finish(home, run_id)
    assert result["status"] == "success", result
    assert home.workspace(run_id, "src/a.c").read_text() == "int one_one;\nint two;\n"
    assert len(of_type(events, "tool.restarted")) == 1


def test_a_workspace_is_searched(home, server):
    assert use(home, server, "glob", "{pattern: '**/*.c'}")[1] == {"paths": ["src/a.c", "src/b.c"], "truncated": False}
    output = use(home, server, "grep", "{pattern: '^int t', context: 1}")[1]
    assert output["matches"] == [
        {"path": "src/a.c", "line": 2, "text": "int two;", "before": ["int one;"], "after": []},
        {"path": "src/b.c", "line": 1, "text": "int three;", "before": [], "after": []}]
    names = [entry["path"] for entry in use(home, server, "list_dir", "{}")[1]["entries"]]
    assert names == [".git", ".gitignore", "node_modules", "src"]


def test_a_repository_is_looked_at(home, server):
    output = use(home, server, "git_status", "{}", "echo x >>src/a.c; echo y >new")[1]
    assert output["branch"] == "main" and output["entries"] == [
        {"path": "src/a.c", "index": "unmodified", "worktree": "modified"},
        {"path": "new", "index": "unmodified", "worktree": "untracked"}]
    output = use(home, server, "git_diff", "{}", "echo x >>src/a.c")[1]
    assert output["files"] == [{"path": "src/a.c", "added": 1, "deleted": 0}] and "+x\n" in output["diff"]


@pytest.mark.parametrize("point", ["tool.before_start=kill@2", "tool.after_spawn=kill@2", "tool.git_ended=kill", "tool.ended=kill@2"])
def test_a_commit_happens_once_across_a_kill(home, point):
    run_id = kill_at(home, point, definition("git_commit", "{message: second}", "echo x >>src/a.c"))
    result, events = finish(home, run_id)
    assert result["status"] == "success", result
    commit = result["outputs"]["all"]
    assert git(home, run_id, "log", "--format=%s").split() == ["second", "first"]
    assert git(home, run_id, "rev-parse", "HEAD").strip() == commit["commit"]
    assert git(home, run_id, "status", "--porcelain") == ""
    effect = of_type(events, "tool.requested")[-1]["effect"]
    assert f"Baton-Effect: {effect}" in git(home, run_id, "log", "-1", "--format=%B")


def test_an_empty_commit_is_refused(home, server):
    result, _ = use(home, server, "git_commit", "{message: nothing}")
    assert result["status"] == "failed" and "set allow_empty" in str(result)


def test_the_hooks_of_a_repository_do_not_run(home, server):
    trap = "printf '#!/bin/sh\\ntouch /workspace/ran\\n' >.git/hooks/reference-transaction; chmod 755 .git/hooks/*; " \
           "git config filter.x.clean 'touch ran; cat'; echo '* filter=x' >.gitattributes; echo x >>src/a.c"
    result, output = use(home, server, "git_commit", "{message: second}", trap)
    assert len(output["files"]) == 2, result
    assert not home.workspace(result["run_id"], "ran").exists()


def test_a_plan_and_a_result_are_outputs(home, server):
    output = run(home, server, "write_todos", "{items: [{text: a, state: done}, {text: b}]}")["outputs"]["all"]
    assert output == {"items": [{"text": "a", "state": "done"}, {"text": "b", "state": "pending"}], "open": 1, "done": 1}
    result = run(home, server, "submit", "{result: {answer: 42}}")
    assert result["outputs"] == {"all": {"result": {"answer": 42}}}
    refused = run(home, server, "write_todos", "{items: [{text: a, state: in_progress}, {text: b, state: in_progress}]}")
    assert refused["status"] == 422 and "only one may be" in str(refused)
