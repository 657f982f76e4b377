"""tools/check-contracts in a repository of its own: what may grow, and what needs a reason."""
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIRST = "entity a.X closed\nfield a.X.one string required\nstate run.running live\n"
CHANGED = FIRST.replace("one string", "one integer")


class Repository:
    def __init__(self, path):
        self.path = path
        self.golden = path / "tests/golden"
        self.golden.mkdir(parents=True)
        (path / "tools").mkdir()
        for name in ("check-contracts", "contract_listing.py"):
            shutil.copy(ROOT / "tools" / name, path / "tools")
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(path), "GIT_CONFIG_NOSYSTEM": "1",
                            "PYTHONDONTWRITEBYTECODE": "1",
                            "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
                            "GIT_COMMITTER_EMAIL": "a@b"}
        self.git("init", "-q", "-b", "main")
        self.write(FIRST)
        self.history("old")
        self.commit("first")

    def git(self, *words):
        subprocess.run(["git", *words], cwd=self.path, env=self.environment, check=True, capture_output=True)

    def write(self, text):
        (self.golden / "contract.txt").write_text(text)

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


def test_the_first_version_promises_everything(repository):
    assert repository.check() == (0, "the listing and the histories, 0 broke a promise\n")


def test_growth_needs_no_reason(repository):
    repository.write(FIRST + "state run.done final\nentity a.Y closed\nfield a.Y.one string required\n")
    assert repository.check()[0] == 0
    repository.commit("more")
    assert repository.check()[0] == 0


@pytest.mark.parametrize("text", [CHANGED, "state run.running live\n"])
def test_a_change_is_refused_before_and_after_its_commit(repository, text):
    repository.write(text)
    status, text = repository.check()
    assert status == 1 and "not committed yet" in text and "- field a.X.one string required" in text
    assert repository.check(CONTRACT_CHANGE="numbers are better")[0] == 0
    repository.commit("less")
    status, text = repository.check()
    assert status == 1 and "changed in" in text


def test_a_reason_makes_a_change_good(repository):
    repository.write(CHANGED)
    repository.commit("less\n\nContract-Change: numbers are better")
    assert repository.check()[0] == 0


def test_an_empty_reason_is_none(repository):
    repository.write(CHANGED)
    repository.commit("less\n\nContract-Change:\n")
    assert repository.check()[0] == 1


def test_a_reason_given_before_the_file_is_committed(repository):
    repository.commit("rows\n\nContract-Change: numbers are better")
    repository.write(CHANGED)
    assert repository.check()[0] == 0


def test_a_reason_on_a_merged_branch(repository):
    repository.git("checkout", "-q", "-b", "branch")
    repository.write(CHANGED)
    repository.commit("less\n\nContract-Change: numbers are better")
    repository.git("checkout", "-q", "main")
    repository.commit("elsewhere")
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "branch")
    assert repository.check()[0] == 0


def test_a_line_may_move(repository):
    repository.write("state run.running live\n" + FIRST.replace("state run.running live\n", ""))
    assert repository.check()[0] == 0


def test_new_lines_of_the_program_are_counted(repository):
    program = repository.path / "build/baton"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\ncat tests/golden/contract.txt; echo state run.done final\n")
    program.chmod(0o755)
    status, text = repository.check()
    assert status == 0 and "warning: 1 lines of the program's contract are no promises yet" in text


def test_a_golden_file_that_is_gone(repository):
    (repository.golden / "contract.txt").unlink()
    status, text = repository.check()
    assert status == 1 and "tests/golden/contract.txt: is gone" in text


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
