"""A large value holds up nobody: it is parsed, printed, hashed, copied and freed on reader threads, and the loop passes pointers.

Bytes that the loop thread worked through are counted, not time: so a busy machine breaks none of this."""
import json

ECHO = """name: large
inputs: {numbers: {type: array}}
steps:
  - {name: one, tool: echo, inputs: {value: "${inputs.numbers}"}}
outputs: {value: {from: "${steps.one.outputs.value}"}}
"""
NUMBERS = [7] * 400_000
ON_LOOP = 65_536  # VALUE_ON_LOOP_BYTES, PARSE_ON_LOOP_BYTES
FREED = 1_048_576  # FREE_ON_LOOP_BYTES


def most(server):
    """The most that one phase of the loop has worked through, by kind of work."""
    return {work: server.figures()['baton_loop_phase_bytes_max{work="%s"}' % work]
            for work in ("parsed", "printed", "copied", "hashed", "freed")}


def assert_small(server):
    bytes = most(server)
    assert max(bytes[work] for work in ("parsed", "printed", "copied", "hashed")) <= ON_LOOP, bytes
    assert bytes["freed"] <= FREED, bytes


def start(server, workflow, inputs, **headers):
    """With the body as short as it can be written: the spaces of json.dumps() would make it half as long again."""
    body = inputs if isinstance(inputs, str) else json.dumps(inputs, separators=(",", ":"))
    return server.request("POST", "/api/run", b'{"workflow":"%s","inputs":%s}' % (workflow.encode(), body.encode()),
                          {"Prefer": "wait=60", "Content-Type": "application/json", **headers})


def test_a_large_value_goes_in_and_out_and_the_loop_works_through_none_of_it(home):
    home.define(ECHO)
    server = home.serve()
    answer = start(server, "large", {"numbers": NUMBERS})
    assert answer.status == 200 and answer.body["status"] == "success", str(answer.body)[:300]
    got = server.get("/api/runs/" + answer.body["run_id"])
    assert got.body["outputs"] == {"value": NUMBERS}
    assert_small(server)


def test_its_idempotency_key_is_hashed_elsewhere_too(home):
    home.define(ECHO)
    server = home.serve()
    key = {"Idempotency-Key": "one"}
    first = start(server, "large", {"numbers": NUMBERS}, **key)
    second = start(server, "large", {"numbers": NUMBERS}, **key)
    assert first.status == 200 and second.body["run_id"] == first.body["run_id"]
    assert start(server, "large", {"numbers": NUMBERS + [8]}, **key).status == 409
    assert_small(server)


def test_what_other_runs_are_given_and_what_signals_and_people_bring_likewise(home):
    """A sub-run is requested with its inputs and ends with its outputs; a signal's data, what a person says and the list that a
    map goes over are values too."""
    home.define(ECHO)
    home.define("""name: through
inputs: {numbers: {type: array}}
steps:
  - {name: child, workflow: large, inputs: {numbers: "${inputs.numbers}"}}
  - {name: hear, wait: {signal: go}, depends_on: [child]}
  - {name: ask, human: {question: "well?"}, inputs: {shown: "${steps.hear.outputs.list}"}, depends_on: [hear]}
  - {name: each, depends_on: [ask], map: {over: "${steps.ask.outputs.value.lists}", steps: [{name: size, tool: echo, inputs: {size: "${len(item)}"}}]}}
outputs: {sizes: {from: "${steps.each.outputs}"}, value: {from: "${steps.child.outputs.value}"}}
""")
    server = home.serve()
    run = start(server, "through", {"numbers": NUMBERS}, Prefer="").body["run_id"]
    server.until(run, "timer.requested")
    data = json.dumps({"name": "go", "data": {"list": NUMBERS}}, separators=(",", ":")).encode()
    assert server.request("POST", f"/api/runs/{run}/signal", data, {"Content-Type": "application/json"}).status == 200
    server.until(run, "human.requested")
    [question] = server.inbox()
    said = json.dumps({"decision": "modify", "value": {"lists": [NUMBERS[:300_000], [1]]}}, separators=(",", ":")).encode()
    assert server.request("POST", f"/api/inbox/{question['id']}/respond", said, {"Content-Type": "application/json"}).status == 200
    assert server.finish(run)["outputs"] == {"sizes": [{"size": 300_000}, {"size": 1}], "value": NUMBERS}
    assert_small(server)


def test_inputs_over_the_limit_are_refused_as_before(home):
    """Each copy of the list fits, both together are over the largest value."""
    home.define("""name: twice
inputs: {numbers: {type: array}}
steps:
  - {name: both, tool: echo, inputs: {one: "${inputs.numbers}", two: "${inputs.numbers}"}}
""")
    server = home.serve()
    answer = start(server, "twice", {"numbers": NUMBERS})
    assert answer.body["status"] == "failed" and "larger than the limit of a value" in json.dumps(answer.body)
    assert_small(server)


def test_whole_doubles_are_integers_however_long_the_body(home):
    """1.0 and 1 are the same number, in a short body and in one that a reader thread parses."""
    home.define("""name: whole
inputs: {n: {type: number}, rest: {type: array}}
steps: [{name: one, tool: echo, inputs: {n: "${inputs.n}"}}]
outputs: {n: {from: "${steps.one.outputs.n}"}}
""")
    server = home.serve()
    for rest in ([], NUMBERS):
        answer = start(server, "whole", '{"n":3.0,"rest":%s}' % json.dumps(rest, separators=(",", ":")))
        assert answer.body["outputs"] == {"n": 3}, str(answer.body)[:300]
