"""Messages between the agents of a run: one recipient, broadcast, threads, refusals, crashes and compaction.

Every agent is driven by a script.  A question to a person holds an agent until the test has seen what it waits for."""
import json

from baton import new_id, wait_until
from test_sessions import asked, call, of

BOTH = ("send_message", "read_messages", "ask_human")


def team(replies, after=(), tools=None, more=None, name="team"):
    """An agent and a step for each key of `replies`; a step of `after` waits for the one before it."""
    agents = "".join(f"""
  {agent}:
    driver: script
    model: play
    tools: {json.dumps(list((tools or {}).get(agent, BOTH)))}
    {(more or {}).get(agent, "")}
    options: {{replies: {json.dumps(said)}}}""" for agent, said in replies.items())
    names = list(replies)
    steps = "".join(f"""
  - name: {agent}
    agent: {agent}
    inputs: {{prompt: "Do it."}}
    {f"depends_on: [{names[names.index(agent) - 1]}]" if agent in after else ""}""" for agent in names)
    outputs = "".join(f"""
  {agent}: {{from: "${{steps.{agent}.outputs.text}}", optional: true}}""" for agent in names)
    return f"name: {name}\nstrict: true\nagents:{agents}\nsteps:{steps}\noutputs:{outputs}\n"


def hold(word):
    return call("ask_human", question=word)


def answer(server, run, word):
    """Answers the question that holds an agent."""
    def found():
        return [one for one in server.inbox() if one["run_id"] == run and one["question"] == word]
    wait_until(found)
    assert server.respond(found()[0]["id"]).status == 200


def sent(server, run, count):
    wait_until(lambda: len(of(server.events(run), "message.sent")) == count)
    return of(server.events(run), "message.sent")


def messages(server, run, query=""):
    response = server.get(f"/api/runs/{run}/messages{query}")
    assert response.status == 200, response.body
    return response.body


def agent_messages(server, run):
    history = server.get(f"/api/runs/{run}?view=pipeline").body["history"]
    return [one for one in history if one["action"] == "agent_message"]


def results(server, run, tool, agent):
    """What the calls of this tool have returned to the agent, oldest first."""
    talks = server.get(f"/api/runs/{run}/conversation").body["talks"]
    (talk,) = [talk for talk in talks if talk["agent"] == agent]
    return [json.loads(made["result"]) for turn in talk["turns"] for made in turn.get("calls", []) if made["name"] == tool and "result" in made]


TWO = {"ada": [{"turn": 1, "calls": [call("send_message", to="bob", subject="port", content="Which port?")]},
               {"turn": 2, "calls": [hold("bob has replied")]},
               {"turn": 3, "calls": [call("read_messages")]},
               {"turn": 4, "contains": "8080", "calls": [call("read_messages")]},
               {"turn": 5, "text": "Done."}, {"text": "Bad."}],
       "bob": [{"turn": 1, "calls": [hold("ada has asked")]},
               {"turn": 2, "calls": [call("read_messages")]},
               {"turn": 3, "contains": "Which port?", "calls": [call("send_message", to="ada", content="8080", type="response")]},
               {"turn": 4, "text": "Told."}, {"text": "Bad."}]}


def test_two_agents_exchange_messages_at_the_same_time(home, server):
    run = server.run_of(home.define(team(TWO)))
    (question,) = sent(server, run, 1)
    answer(server, run, "ada has asked")
    reply = sent(server, run, 2)[1]
    answer(server, run, "bob has replied")
    assert server.finish(run)["outputs"] == {"ada": "Done.", "bob": "Told."}
    assert (question["from"], question["to"], question["type"], question["step"]) == ("ada", "bob", "task", "ada[1]/send_message")
    assert question["thread"] == question["id"] and reply["thread"] == reply["id"]
    events = server.events(run)
    assert [(data["agent"], data["messages"]) for data in of(events, "message.read")] == [("bob", [question["id"]]), ("ada", [reply["id"]])]
    first, second = results(server, run, "read_messages", "ada")
    assert [one["content"] for one in first["messages"]] == ["8080"] and first["unread"] == 0
    assert second == {"messages": [], "unread": 0}
    assert results(server, run, "send_message", "ada") == [{"id": question["id"], "thread": question["id"], "to": ["bob"]}]


def test_a_message_and_the_end_of_its_call_are_one_append(home, server):
    run = server.run_of(home.define(team({"ada": [{"turn": 1, "calls": [call("send_message", to="bob", content="x" * 5000)]}, {"text": "Done."}],
                                          "bob": [{"turn": 1, "calls": [call("read_messages")]}, {"turn": 2, "contains": "xxxx", "text": "Good."}, {"text": "Bad."}]},
                                         after=("bob",))))
    assert server.finish(run)["outputs"]["bob"] == "Good."
    types = [event["type"] for event in server.events(run)]
    for type in ("message.sent", "message.read"):
        assert types[types.index(type) + 1] == "step.computed"
    assert "sha256" in of(server.events(run), "message.sent")[0]["content"]


def test_a_broadcast_reaches_every_other_agent_once(home, server):
    read = [{"turn": 1, "calls": [call("read_messages")]}, {"turn": 2, "calls": [call("read_messages", limit=1)]}, {"text": "Done."}]
    run = server.run_of(home.define(team({
        "ada": [{"turn": 1, "calls": [call("send_message", broadcast=True, content="Stop!", type="status"), call("read_messages")]}, {"text": "Done."}],
        "bob": read, "cleo": read}, after=("bob", "cleo"))))
    server.finish(run)
    assert results(server, run, "read_messages", "ada") == [{"messages": [], "unread": 0}]
    for agent in ("bob", "cleo"):
        first, second = results(server, run, "read_messages", agent)
        (one,) = first["messages"]
        assert one["content"] == "Stop!" and one["broadcast"] is True and one["from"] == "ada" and one["type"] == "status"
        assert second["messages"] == []
    assert results(server, run, "send_message", "ada")[0]["to"] == ["bob", "cleo"]
    (shown,) = messages(server, run)
    assert shown["recipient"] is None and shown["sender"] == "ada" and shown["type"] == "status"


def test_replies_belong_to_the_thread_of_the_message_they_answer(home, server):
    run = server.run_of(home.define(team({
        "ada": [{"turn": 1, "calls": [call("send_message", to="bob", content="one"), call("send_message", to="bob", content="two")]}, {"text": "Done."}],
        "bob": [{"turn": 1, "calls": [call("read_messages", thread="00000000-0000-4000-8000-000000000000"), call("read_messages", limit=1),
                                      call("send_message", content="to be edited")]}, {"text": "Done."}],
        "eve": [{"turn": 1, "calls": [call("send_message", to="ada", content="three")]}, {"text": "Done."}]},
        after=("bob", "eve"), more={"bob": "approve: [send_message]"})))
    one, two = sent(server, run, 2)
    question = asked(server, run)
    server.respond(question["id"], "modify", value={"reply_to": one["id"], "content": "answer"})
    server.finish(run)
    none, first = results(server, run, "read_messages", "bob")
    assert none == {"messages": [], "unread": 2}
    assert [m["content"] for m in first["messages"]] == ["one"] and first["unread"] == 1
    listed = messages(server, run)
    assert [m["content"] for m in listed] == ["one", "two", "answer", "three"]
    reply = listed[2]
    assert reply["parent_id"] == one["id"] and reply["metadata"]["thread"] == one["id"] and reply["recipient"] == "ada" and reply["type"] == "response"
    assert listed[1]["metadata"]["thread"] == two["id"] and listed[1]["parent_id"] is None
    assert messages(server, run, "?limit=2") == listed[:2]
    assert messages(server, run, f"?limit=2&after={listed[1]['id']}") == listed[2:]
    assert messages(server, run, f"?after={listed[3]['id']}") == []
    assert server.get(f"/api/runs/{run}/messages?after={new_id()}").status == 404
    assert server.get(f"/api/runs/{run}/messages?after=x").status == 400
    assert server.get(f"/api/runs/{new_id()}/messages").status == 404


def test_a_call_that_cannot_be_made_is_answered_with_the_reason(home, server):
    wrong = {"no other agent zed of this run reads messages; the agents that do are bob, cleo": dict(to="zed", content="x"),
             "no other agent ada of this run": dict(to="ada", content="x"),
             "no other agent mute of this run": dict(to="mute", content="x"),
             "give to, or broadcast: true; the agents that read messages are bob, cleo": dict(content="x"),
             "give either to or broadcast": dict(to="bob", broadcast=True, content="x"),
             "/content: is required": dict(to="bob"),
             "reply_to is not the id of a message": dict(reply_to="00000000-0000-4000-8000-000000000000", content="x"),
             "more than 32768 bytes": dict(to="bob", content="\\" * 20000)}
    quiet = [{"text": "Done."}]
    run = server.run_of(home.define(team({
        "ada": [{"turn": 1, "calls": [call("send_message", **arguments) for arguments in wrong.values()] + [call("read_messages", limit=0)]}, {"text": "Done."}],
        "bob": quiet, "cleo": quiet, "mute": quiet}, tools={"mute": ("send_message",)})))
    assert server.finish(run)["outputs"]["ada"] == "Done."
    faults = [data["fault"]["text"] for data in of(server.events(run), "step.computed") if "fault" in data]
    assert len(faults) == len(wrong) + 1
    for says, fault in zip(wrong, faults):
        assert says in fault, fault
    assert "/limit" in faults[-1]
    assert messages(server, run) == [] and not of(server.events(run), "message.sent")


def test_a_run_has_a_limit_of_messages(home, server):
    many = [call("send_message", to="bob", content="x") for _ in range(64)]
    run = server.run_of(home.define(team({"ada": [{"turn": n, "calls": many} for n in range(1, 17)] + [{"text": "Done."}], "bob": [{"text": "Done."}]},
                                         more={"ada": "max_turns: 20"})))
    assert server.finish(run)["outputs"]["ada"] == "Done."
    events = server.events(run)
    assert len(of(events, "message.sent")) == 1000
    faults = [data["fault"] for data in of(events, "step.computed") if "fault" in data]
    assert len(faults) == 24 and {fault["code"] for fault in faults} == {"limit_reached"}
    assert len(messages(server, run, "?limit=1000")) == 1000


def test_a_message_survives_a_kill_between_sending_and_reading(home):
    server = home.serve()
    run = server.run_of(home.define(team(TWO)))
    sent(server, run, 1)
    server.kill()
    server = home.serve()
    answer(server, run, "ada has asked")
    sent(server, run, 2)
    server.kill()
    server = home.serve()
    answer(server, run, "bob has replied")
    assert server.finish(run)["outputs"] == {"ada": "Done.", "bob": "Told."}
    assert [len(data["messages"]) for data in of(server.events(run), "message.read")] == [1, 1]
    assert [m["content"] for m in messages(server, run)] == ["Which port?", "8080"]


def test_messages_outlive_compaction_and_are_read_after_a_retry(home):
    server = home.serve()
    run = server.run_of(home.define(team({
        "ada": [{"turn": 1, "calls": [call("send_message", to="bob", subject="s", content="y" * 600), call("send_message", to="bob", content="z")]}, {"text": "Done."}],
        "bob": [{"turn": 1, "calls": [call("read_messages", limit=1)]},
                {"step": "bob[2]/turn", "fail": {"code": "unavailable"}},
                {"turn": 2, "contains": "yyy", "calls": [call("read_messages")]},
                {"turn": 3, "contains": '"content":"z"', "text": "Good."}, {"text": "Bad."}]}, after=("bob",))))
    assert server.finish(run)["status"] == "failed"
    before = messages(server, run)
    assert [m["content"] for m in before] == ["y" * 600, "z"]
    told = agent_messages(server, run)
    assert [(one["agent"], one["detail"]) for one in told] == [("ada", "ada to bob: s"), ("ada", "ada to bob: z")]
    assert json.loads(home.cli("db", "compact", "--now", "--json")[1])["compacted"] == 1
    assert messages(server, run) == before
    assert agent_messages(server, run) == told
    server.kill()
    server = home.serve()
    assert home.cli("retry", run)[0] == 0
    wait_until(lambda: server.result(run)["status"] == "success")
    assert server.result(run)["outputs"]["bob"] == "Good."
    read = [json.loads(made["result"]) for talk in server.get(f"/api/runs/{run}/conversation").body["talks"] if talk["agent"] == "bob"
            for turn in talk["turns"] for made in turn.get("calls", [])]
    assert [m["content"] for one in read for m in one["messages"]] == ["y" * 600, "z"]
    assert messages(server, run) == before


def test_show_prints_a_line_for_each_message(home, server):
    run = server.run_of(home.define(team({
        "ada": [{"turn": 1, "calls": [call("send_message", to="bob", subject="port", content="line\n\x1b[31mred")] +
                 [call("send_message", broadcast=True, content=f"n{i}") for i in range(20)]}, {"text": "Done."}],
        "bob": [{"text": "Done."}]}, after=("bob",))))
    server.finish(run)
    code, out, err = home.cli("show", run)
    assert code == 0, err
    lines = out.splitlines()
    at = lines.index("messages")
    assert lines[at + 1] == "  (1 older messages)" and lines[at + 2].endswith("  ada to all: n0") and lines[at + 21].endswith("ada to all: n19")
    assert "\x1b" not in out
    outline = json.loads(home.cli("show", run, "--json")[1])
    assert len(outline["messages"]) == 20 and outline["messages_left_out"] == 1
