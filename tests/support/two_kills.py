"""A run of examples/release-notes.yaml survives two kill -9 and is approved by a person; then an agent
mends a program with tools (examples/fix-and-test.yaml) and survives another one.

It checks the end of each run: nothing is repeated that is not marked, and every effect is closed once.
"""
import json
import signal
import time

from baton import wait_until_none_with

BEGUN = time.monotonic()


def say(text):
    print(f"{time.monotonic() - BEGUN:6.2f} s  {text}", flush=True)


def tell(event):
    data = event["data"]
    words = [event["type"], data.get("step", ""), data.get("decision") or data.get("outcome") or ""]
    if event["type"] == "tool.restarted":
        words.append(f"attempt {data['attempt']}")
    say(f"    {event['seq']:>2}  " + "  ".join(word for word in words if word))


class Demo:
    def __init__(self, home):
        self.home = home
        self.run = None
        self.seen = []

    def follow(self, server, type, step=None):
        """Prints the events from the last position up to an event of that type."""
        last = self.seen[-1]["seq"] if self.seen else None
        with server.stream(f"/api/runs/{self.run}/stream", last) as stream:
            for told in stream:
                self.seen.append(told.event)
                tell(told.event)
                if told.event["type"] == type and step in (None, told.event["data"].get("step")):
                    return told.event
        raise AssertionError(f"the run ended without {type}")

    def kill(self, server, why):
        say(f"kill -9 {server.pid}: {why}")
        assert server.kill() == -signal.SIGKILL
        wait_until_none_with(self.home.data)
        say("no child is left alive")
        return self.open_tools()

    def open_tools(self):
        """The open tools according to the database, which must be repeated and marked as restarted."""
        requested, finished = {}, set()
        with self.home.database() as database:
            for type, body in database.execute("SELECT type, body FROM events ORDER BY position"):
                body = json.loads(body)
                if type == "tool.requested":
                    requested[body["effect"]] = body["step"]
                elif type == "tool.finished":
                    finished.add(body["effect"])
        return [step for effect, step in requested.items() if effect not in finished]

    def serve(self):
        server = self.home.serve()
        say(f"baton serve: pid {server.pid}, http://{server.address}/ui/")
        return server

    def play(self):
        server = self.serve()
        self.run = server.run_of("release-notes", {"version": "0.1"})
        say(f"POST /api/run: release-notes is run {self.run}")
        self.follow(server, "timer.requested")
        to_repeat = self.kill(server, "while the run waits for its timer")

        server = self.serve()
        say("the run goes on by itself:")
        self.follow(server, "tool.requested", "draft")
        to_repeat += self.kill(server, "while a shell step is under way")

        server = self.serve()
        say("the run goes on by itself:")
        question = self.follow(server, "human.requested")["data"]
        say(f"a person is asked: {question['question']}")
        status, output, errors = self.home.cli("approve", question["effect"], "-m", "go ahead")
        assert status == 0, errors
        say(f"baton approve, as a client of pid {server.pid}: {output.strip()}")
        self.follow(server, "run.finished")
        self.check(server, to_repeat)
        self.let_an_agent_work(server)

    def let_an_agent_work(self, server):
        self.run, self.seen = server.run_of("fix-and-test"), []
        say(f"POST /api/run: fix-and-test is run {self.run}; an agent works with tools")
        self.follow(server, "tool.finished", "mend[1]/read_file")
        self.kill(server, "in the middle of the agent's second turn")

        server = self.serve()
        say("the agent goes on by itself:")
        self.follow(server, "run.finished")
        result = server.result(self.run)
        assert result["outputs"] == {"work": {"changed": ["add.py"], "test": "passed"}, "test": "passed\n"}, result
        say("outputs: " + json.dumps(result["outputs"]))
        turns = [e["data"]["step"] for e in self.seen if e["type"] == "turn.finished"]
        calls = [e["data"]["step"] for e in self.seen if e["type"] in ("tool.finished", "step.computed") and "[" in e["data"]["step"]]
        assert turns == ["mend[1]/turn", "mend[2]/turn", "mend[3]/turn"], turns
        assert calls == ["mend[1]/read_file", "mend[2]/edit_file", "mend[2]/shell", "mend[3]/submit"], calls
        say(f"summary: {len(turns)} turns and {len(calls)} calls, each finished once")
        server.kill()
        wait_until_none_with(self.home.data)

    def check(self, server, to_repeat):
        result = server.result(self.run)
        assert result["status"] == "success", result
        outputs = {"title": "Release 0.1", "times_published": "1\n"}
        assert result["outputs"] == outputs, result["outputs"]
        say("outputs: " + json.dumps(result["outputs"]))
        assert server.events(self.run) == self.seen, "the stream and the disk differ"
        restarted = [e["data"]["step"] for e in self.seen if e["type"] == "tool.restarted"]
        assert restarted == to_repeat, f"repeated {restarted}, left open {to_repeat}"
        closed = [e["data"]["effect"] for e in self.seen
                  if e["type"].endswith(".finished") and "effect" in e["data"]]
        assert len(closed) == len(set(closed)) == 5, closed
        log = self.home.workspace(self.run, "published.log").read_text()
        assert log.count("\n") == 1, log
        notes = self.home.workspace(self.run, "RELEASE.md").read_text()
        assert notes.startswith("# Release 0.1\n") and notes.count("is ready") == 3, notes
        assert server.inbox() == []
        say(f"summary: {len(self.seen)} events, followed over 3 servers without gap or repetition; "
            f"2 kill -9; repeated and marked: {', '.join(restarted) or 'nothing'}; "
            "5 effects, each closed once; published once")
