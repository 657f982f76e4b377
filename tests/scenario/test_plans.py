"""Plans: the tools that write, read and name them; revisions, diffs, edits and imports; prompts have a file of their own."""
import datetime

from baton import new_id
from test_tools import finish, kill_at, one_step, run

TASK = "{number: '1', title: Fix add, files_to_modify: [calc.py], steps: ['Replace the minus sign.', 'Run the tests.']}"
DRAFT = f"{{goal: add() adds, architecture_summary: One function., tech_stack: [Python], tasks: [{TASK}], file_path: docs/plans/a.md}}"


def test_a_written_plan_is_a_file_of_the_workspace_and_valid(home, server):
    result = run(home, server, "write_plan", DRAFT)
    output = result["outputs"]["all"]
    assert output["path"] == "docs/plans/a.md"
    assert home.workspace(result["run_id"], "docs/plans/a.md").read_text() == output["markdown"]
    home.define("name: check\ninputs:\n  plan: {type: string}\nsteps:\n  - name: check\n    tool: plan_check\n"
                "    inputs: {markdown: '${inputs.plan}'}\noutputs:\n  all: {from: '${steps.check.outputs}'}\n", name="check")
    checked = server.start("check", {"plan": output["markdown"]}, wait=True).body["outputs"]["all"]
    assert checked["valid"] and checked["issues"] == [] and checked["severity"] == "none"
    assert checked["goal"] == "add() adds" and checked["key_files"] == ["calc.py"] and checked["total_tasks"] == 1
    assert checked["tasks"][0]["title"] == "Fix add" and checked["tasks"][0]["markdown"].startswith("### Task 1: Fix add")


def test_a_killed_write_of_a_plan_is_repeated(home):
    run_id = kill_at(home, "tool.before_start", one_step("write_plan", DRAFT))
    result, _ = finish(home, run_id)
    assert result["status"] == "success", result
    assert home.workspace(run_id, "docs/plans/a.md").read_text() == result["outputs"]["all"]["markdown"]


def test_a_bad_plan_is_an_output_and_no_failure(home, server):
    result = run(home, server, "plan_check", "{markdown: null, fallback: I cannot do this.}")
    output = result["outputs"]["all"]
    assert result["status"] == "success"
    assert not output["valid"] and output["severity"] == "critical" and output["source"] == "none"
    assert "does not look like a plan" in output["diagnostic"]


def test_a_plan_outside_of_the_workspace_is_refused(home, server):
    # Literal inputs are checked before the start, others when the step begins.
    refused = run(home, server, "write_plan", DRAFT.replace("docs/plans/a.md", "../a.md"))
    assert refused["status"] == 422 and '".."' in str(refused)
    home.define("name: outside\ninputs:\n  path: {type: string}\nsteps:\n  - name: write\n    tool: write_plan\n"
                f"    inputs: {DRAFT.replace('docs/plans/a.md', '${inputs.path}')}\n".replace("file_path: ${inputs.path}", "file_path: '${inputs.path}'"))
    for path in ("../a.md", "docs/../../a.md", "/tmp/a.md"):
        result = server.start("outside", {"path": path}, wait=True).body
        assert result["status"] == "failed", result


def path_in(home, server, inputs, profile):
    home.define(one_step("plan_path", inputs))
    return server.request("POST", "/api/run", {"workflow": "one", "inputs": {}, "profile": profile}, {"Prefer": "wait=60"}).body


def test_the_path_of_a_plan_has_the_day_of_the_run_and_the_pattern_of_its_profile(home, server, tmp_path):
    today = datetime.datetime.now(datetime.timezone.utc).date()
    days = {str(today), str(today + datetime.timedelta(days=1))}
    output = run(home, server, "plan_path", "{issue_key: 'acme/site#12'}")["outputs"]["all"]
    assert output["date"] in days
    assert output["path"] == f"docs/plans/{output['date']}-acme-site-12.md"
    profile = {"name": "work", "repo_root": str(tmp_path), "plan_path_pattern": "plans/{issue_key}/{date}.md"}
    assert server.request("POST", "/api/profiles", profile).status == 201
    output = path_in(home, server, "{issue_key: '', title: Fix the sum}", "work")["outputs"]["all"]
    assert output["path"] == f"plans/Fix-the-sum/{output['date']}.md"
    old = {"name": "old", "driver": "api", "model": "m", "working_dir": str(tmp_path), "plan_output_dir": "notes"}
    assert server.request("POST", "/api/profiles", old).status == 201
    output = path_in(home, server, "{issue_key: BAT-1}", "old")["outputs"]["all"]
    assert output["path"] == f"notes/{output['date']}-BAT-1.md"
    bad = {"name": "bad", "repo_root": str(tmp_path), "plan_path_pattern": "/etc/{date}"}
    assert server.request("POST", "/api/profiles", bad).status == 201
    result = path_in(home, server, "{issue_key: BAT-1}", "bad")
    assert result["status"] == "failed" and "relative to the repository" in str(result), result
