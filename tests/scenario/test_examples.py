"""Every example is run by name, as it is, and comes to what its page says; people and signals are played."""
import json
import pathlib
import subprocess

import pytest
from baton import PROGRAM, ROOT, environment

FILES = sorted(path.stem for path in (ROOT / "examples").glob("*.yaml"))
PATTERNS = [name for name in FILES if name.startswith("pattern-")]

# name: (inputs, what people and others do, outputs)
RUNS = {
    "backup": [({}, [], {"result": "verified"}), ({"damage": True}, [], {"result": "not verified"})],
    "data-checks": [({}, [], {"rows": 3, "gate": "passed"})],
    "deploy-with-undo": [({}, [], {"history": "schema 7\ntraffic to 7\n"})],
    "fix-and-test": [({}, [], {"work": {"changed": ["add.py"], "test": "passed"}, "test": "passed\n"})],
    "git-release-notes": [
        ({}, [("approve", {})], {"notes": "Exports are faster, and reports can be shared. A crash with empty files is gone."}),
        ({"log": "docs: x"}, [("modify", {"value": {"notes": "Nothing new."}})], {"notes": "Nothing new."})],
    "incident-drill": [({}, [("approve", {}), ("signal", "all-clear", {"cause": "a full disk"})], {"cause": "a full disk"})],
    "invoice-approval": [({"amount": 20}, [], {"paid": 20, "second_person": "not needed"})],
    "issue-triage": [({}, [("approve", {})], None)],
    "log-watch": [({}, [], {"alarm": "found: ERROR disk is full\n"}),
                  ({"pattern": "PANIC", "looks": 2}, [], {"alarm": "nothing found"})],
    "nightly-report": [({}, [], {"report": "Orders  120\nRefunds 4\n", "looked_at": False}),
                       ({"refunds": 60}, [("approve", {})], {"looked_at": True})],
    "onboarding": [({}, [], {"missing": ["payroll"]}), ({"broken": ""}, [], {"missing": []})],
    "pattern-chain": [({}, [], {"headline": "Keep what you have"})],
    "pattern-debate": [({}, [], {"decision": {"decision": "partly", "because": "Start with the part that fails."}})],
    "pattern-map-reduce": [({}, [], {"summary": "sales up 10%, costs unchanged, team plus two"})],
    "pattern-plan-execute": [({}, [], {"result": "The party is prepared.", "tasks": 3})],
    "pattern-react": [({}, [], {"answer": {"words": 6}})],
    "pattern-reflection": [
        ({}, [], {"text": "Changes are written to a log before they are made, so that a crash cannot lose half of one."})],
    "pattern-router": [({}, [], {"to": "billing", "answer": "We correct the invoice."}),
                       ({"request": "It is a crash."}, [], {"to": "technical", "answer": "Please send us the log."})],
    "pattern-supervisor": [({}, [], {"result": {"text": "Morgenstund hat Gold im Mund."}})],
    "pull-request-review": [({}, [], {"approved": False})],
    "release-notes": [({}, [("approve", {})], {"title": "Release 1.0", "times_published": "1\n"})],
    "research": [({}, [], {"report": "It continues work where it stopped, for milliseconds per step, unless repeating is cheap.",
                           "notes": 3})],
    "translate": [({}, [], {"translation": "Morgenstund hat Gold im Mund."})],
    "two-steps": [({}, [], {"greeting": "hello, world\n"})],
    "verified-change": [({}, [], {"summary": "add() adds its arguments instead of subtracting them", "status": "corrected",
                                  "corrections": 2})],
    "write-and-review": [({}, [], None)],
}


def play(server, run, action):
    if action[0] == "signal":
        assert server.tell(run, "signal", name=action[1], data=action[2]).status in (200, 202)
        return
    server.until(run, "human.requested")
    (question,) = [one for one in server.inbox() if one["run_id"] == run]
    assert server.respond(question["id"], action[0], **action[1]).status == 200


def test_every_example_has_a_run():
    assert sorted(RUNS) == FILES


@pytest.mark.parametrize("name", FILES)
def test_it_comes_to_what_it_promises(home, name):
    server = home.serve()
    for inputs, actions, outputs in RUNS[name]:
        run = server.run_of(name, inputs)
        for action in actions:
            play(server, run, action)
        server.finish(run)
        result = server.result(run)
        assert result["status"] == "success", result
        assert not result.get("warnings"), result["warnings"]
        if outputs is not None:
            assert {key: result["outputs"][key] for key in outputs} == outputs


def test_issues_are_sorted(home):
    server = home.serve()
    run = server.run_of("issue-triage")
    play(server, run, ("approve", {}))
    server.finish(run)
    rows = [entry["row"] for entry in server.result(run)["outputs"]["rows"]]
    assert [(row["kind"], row["paged"]) for row in rows] == [("bug", True), ("bug", False), ("feature", False)]


def test_a_failed_deployment_is_undone_in_reverse_order(home):
    server = home.serve()
    run = server.run_of("deploy-with-undo", {"healthy": False})
    server.finish(run)
    assert pathlib.Path(home.workspace(run, "history")).read_text().splitlines() == [
        "schema 7", "traffic to 7", "traffic back", "schema before 7"]


def test_the_person_who_started_it_cannot_approve_an_invoice(home):
    server = home.serve()
    run = server.run_of("invoice-approval")
    server.until(run, "human.requested")
    (question,) = server.inbox()
    assert server.respond(question["id"], "approve").status == 403


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_has_less_than_50_lines(name):
    assert len((ROOT / "examples" / f"{name}.yaml").read_text().splitlines()) < 50


def test_all_are_built_in_and_pass_check(home):
    done = subprocess.run([PROGRAM, "--home", home.data, "check", *sorted(map(str, (ROOT / "examples").glob("*.yaml")))],
                          capture_output=True, text=True, check=True, env=environment())
    assert all(line.endswith(": ok") for line in done.stdout.splitlines())
    listed = json.loads(home.cli("language-catalog")[1])["workflows"]
    assert {item["name"] for item in listed} >= set(FILES) and not [item for item in listed if "problem" in item and item["name"] in FILES]
