"""Repositories and scripted teams for scenarios of the pipelines."""
import os
import pathlib
import subprocess

PLAN = """# Greeting Implementation Plan

**Goal:** Greet people politely, in a file that can be read by every program that needs a greeting.

## Phase 1: Greeting

### Task 1: Write the greeting

- Create: `greeting.txt`

Write one line with a greeting that is suitable for every time of the day.

### Task 2: Write the farewell

- Create: `farewell.txt`

Write one line with a farewell.
"""


class Repository:
    """A git repository of a person, with one commit on main."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "Ada")
        self.git("config", "user.email", "ada@example.org")
        self.write("README.md", "# greetings\n")
        self.commit("first")
        self.base = self.git("rev-parse", "HEAD")

    def git(self, *words):
        done = subprocess.run(["git", *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "--no-verify", "-m", message)
        return self.git("rev-parse", "HEAD")

    def subjects(self, branch):
        return self.git("log", "--reverse", "--format=%s", f"main..{branch}").splitlines()

    def show(self, branch, name):
        return self.git("show", f"{branch}:{name}")

    def untouched(self):
        """main, its index and its files are as they were."""
        return (self.git("rev-parse", "HEAD"), self.git("symbolic-ref", "HEAD"), self.git("status", "--porcelain")) == \
            (self.base, "refs/heads/main", "")


def script(*replies):
    return {"driver": "script", "model": "play", "options": {"replies": list(replies)}}


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


def writes(step, path, content):
    """A developer that writes a file in this step and is done."""
    return [{"step": step, "turn": 1, "calls": [call("write_file", path=path, content=content)]}, {"step": step, "text": f"wrote {path}"}]


def review(approved, *comments, severity=None, **more):
    return {"calls": [call("submit", result={"approved": approved, "severity": severity or ("none" if approved else "major"),
                                             "comments": list(comments), **more})]}


def task(number, title, **more):
    return {"number": str(number), "title": title, "files_to_create": [], "files_to_modify": [], "steps": [f"{title}: do it with care and check it."], **more}


def plan_call(*tasks, goal="Greet people politely, in files that every program that needs a greeting can read.", summary="Plain text files, one for each kind of text."):
    return call("write_plan", goal=goal, architecture_summary=summary, tech_stack=[],
                tasks=list(tasks), file_path="PLANPATH")


DEVELOPER = script(*writes("tasks/work/develop", "greeting.txt", "hello\n"), *writes("tasks#2/work/develop", "farewell.txt", "goodbye\n"),
                   *writes("tasks/work#2/develop", "greeting.txt", "good day\n"))
APPROVES = script(review(True))


def team(**agents):
    """A complete team; what is named replaces a member."""
    idle = script({"text": "-"})
    return {"architect": idle, "plan_validator": idle, "developer": DEVELOPER, "reviewer": APPROVES, "task_reviewer": APPROVES,
            "evaluator": idle, "oracle": idle, "brainstormer": idle, **agents}


def profile(server, repository, agents=None, **more):
    """Writes the profile of the repository and makes it the active one."""
    made = server.request("PUT", "/api/profiles/team", {"name": "team", "repo_root": str(repository.folder), "tracker": "noop",
                                                        "agents": agents or team(), **more})
    assert made.status in (200, 201), made
    return made.body


def implement(server, **inputs):
    """Starts the implementation pipeline; a plan and a title are given unless the caller says otherwise."""
    answer = server.request("POST", "/api/run", {"workflow": "implementation", "profile": "team",
                                                 "inputs": {"title": "Greet people", "issue": "GREET-1", "plan": PLAN, **inputs}})
    assert answer.status == 202, answer
    return answer.body["run_id"]


def gate(server, run):
    """The open question of the run, once there is one."""
    server.until(run, "human.requested")
    (question,) = [one for one in server.inbox() if one["run_id"] == run]
    return question
