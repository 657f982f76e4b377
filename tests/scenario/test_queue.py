"""A run that waits for its turn has it after a kill -9, too, and has it once."""
import contextlib

from baton import Gone, killed, new_id

ASKS = "name: asks\nsteps:\n  - {name: a, human: {question: well?}}\n"


def start_alone(server, run):
    answer = server.request("POST", "/api/run", {"workflow": "asks", "inputs": {}, "run_id": run, "alone": "word"})
    assert answer.status == 202, answer


def test_the_next_one_starts_although_the_program_was_killed_as_it_began(home):
    home.define(ASKS)
    first, second = new_id(), new_id()
    server = home.serve(BATON_POINTS="queue.before_start=kill")
    start_alone(server, first)
    asked = server.until(first, "human.requested")["data"]
    start_alone(server, second)
    assert server.get(f"/api/runs/{second}/queue").body["position"] == 1
    with contextlib.suppress(Gone):
        server.respond(asked["effect"], revision=asked["revision"])
    assert killed(server), server.errors()
    server = home.serve()
    assert server.finish(first)["status"] == "success"
    server.respond(server.until(second, "human.requested")["data"]["effect"])
    assert server.finish(second)["status"] == "success"
    types = server.types(second)
    assert types.count("run.started") == 1 and types.index("run.started") < types.index("human.requested")
