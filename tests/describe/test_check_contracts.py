"""tools/check-contracts in a repository of its own: what may grow, and what needs a reason."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = {"$defs": {"a.X": {"type": "object", "properties": {"one": {"type": "string"}}, "required": ["one"]}}}
STATES = "# States\n\n## run\n\n| `running` | no |\n"


class Repository:
    def __init__(self, path):
        self.path = path
        self.golden = path / "tests/golden"
        self.golden.mkdir(parents=True)
        (path / "tools").mkdir()
        shutil.copy(ROOT / "tools/check-contracts", path / "tools")
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(path), "GIT_CONFIG_NOSYSTEM": "1",
                            "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
                            "GIT_COMMITTER_EMAIL": "a@b"}
        self.git("init", "-q", "-b", "main")
        for name in ("openapi.json", "schema.json"):
            self.write(name, SCHEMA)
        for name in ("types.ts", "states.md", "events.md", "errors.md"):
            (self.golden / name).write_text(STATES)
        self.history("old")
        self.commit("first")

    def git(self, *words):
        subprocess.run(["git", *words], cwd=self.path, env=self.environment, check=True, capture_output=True)

    def write(self, name, tree):
        (self.golden / name).write_text(json.dumps(tree, indent=2) + "\n")

    def history(self, name, text='{"type":"run.created"}\n'):
        (self.golden / "histories").mkdir(exist_ok=True)
        (self.golden / "histories" / f"{name}.jsonl").write_text(text)

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)

    def check(self, **more):
        done = subprocess.run([str(self.path / "tools/check-contracts")], env={**self.environment, **more}, text=True,
                              capture_output=True)
        assert done.stderr == ""
        return done.returncode, done.stdout


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path)


def changed(**properties):
    tree = json.loads(json.dumps(SCHEMA))
    tree["$defs"]["a.X"]["properties"].update(properties)
    return tree


def test_the_first_version_promises_everything(repository):
    assert repository.check() == (0, "7 documents, 0 broke a promise\n")


def test_growth_needs_no_reason(repository):
    grown = changed(two={"type": "string"})
    grown["$defs"]["a.X"]["required"].append("two")
    repository.write("schema.json", grown)
    (repository.golden / "states.md").write_text(STATES + "| `done` | yes |\n")
    assert repository.check()[0] == 0
    repository.commit("more")
    assert repository.check()[0] == 0


@pytest.mark.parametrize("tree", [changed(one={"type": "integer"}), {"$defs": {}}])
def test_a_change_is_refused_before_and_after_its_commit(repository, tree):
    repository.write("schema.json", tree)
    status, text = repository.check()
    assert status == 1 and "not committed yet" in text and '/properties/one/type = "string"' in text
    assert repository.check(CONTRACT_CHANGE="numbers are better")[0] == 0
    repository.commit("less")
    status, text = repository.check()
    assert status == 1 and "changed in" in text


def test_a_reason_makes_a_change_good(repository):
    repository.write("schema.json", changed(one={"type": "integer"}))
    repository.commit("less\n\nContract-Change: numbers are better")
    assert repository.check()[0] == 0


def test_an_empty_reason_is_none(repository):
    repository.write("schema.json", changed(one={"type": "integer"}))
    repository.commit("less\n\nContract-Change:\n")
    assert repository.check()[0] == 1


def test_a_reason_given_before_the_file_is_committed(repository):
    repository.commit("rows\n\nContract-Change: numbers are better")
    repository.write("schema.json", changed(one={"type": "integer"}))
    assert repository.check()[0] == 0


def test_a_reason_on_a_merged_branch(repository):
    repository.git("checkout", "-q", "-b", "branch")
    repository.write("schema.json", changed(one={"type": "integer"}))
    repository.commit("less\n\nContract-Change: numbers are better")
    repository.git("checkout", "-q", "main")
    repository.commit("elsewhere")
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "branch")
    assert repository.check()[0] == 0


def test_order_and_version_are_no_promises(repository):
    tree = {"info": {"version": "1"}, "required": ["a", "b"]}
    repository.write("openapi.json", tree)
    repository.commit("one\n\nContract-Change: another interface")
    repository.write("openapi.json", {"required": ["b", "a"], "info": {"version": "2"}})
    assert repository.check()[0] == 0


def test_a_line_counts_under_its_heading(repository):
    (repository.golden / "states.md").write_text(STATES.replace("## run", "## step"))
    status, text = repository.check()
    assert status == 1 and "## run > | `running` | no |" in text


def test_a_golden_file_that_is_gone(repository):
    (repository.golden / "events.md").unlink()
    status, text = repository.check()
    assert status == 1 and "tests/golden/events.md: is gone" in text


def test_a_history_may_be_added(repository):
    repository.history("new")
    assert repository.check()[0] == 0
    repository.commit("another")
    assert repository.check()[0] == 0


@pytest.mark.parametrize("reason", ["", "\n\nContract-Change: it was wrong"])
def test_a_history_is_never_changed(repository, reason):
    repository.history("old", "{}\n")
    status, text = repository.check(CONTRACT_CHANGE="it was wrong")
    assert status == 1 and "histories/old.jsonl: is changed" in text
    repository.commit("other" + reason)
    status, text = repository.check()
    assert status == 1 and "histories/old.jsonl: was changed or removed by a commit" in text
    # Not even when a later commit touches something else.
    repository.history("new")
    repository.commit("another")
    assert repository.check()[0] == 1


def test_a_history_is_never_removed(repository):
    (repository.golden / "histories/old.jsonl").unlink()
    status, text = repository.check()
    assert status == 1 and "histories/old.jsonl: is gone" in text
    repository.commit("less\n\nContract-Change: nobody has it")
    assert repository.check()[0] == 1
