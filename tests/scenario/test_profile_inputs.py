"""An input whose default comes from the profile, and what a failed agent leaves behind."""
import pytest

LIMIT = """
name: limited
inputs:
  rounds: {type: integer, default: 3, profile: [agents.reviewer.options.max_iterations, agents.developer.options.max_iterations]}
steps:
  - {name: a, tool: echo, inputs: {rounds: "${inputs.rounds}"}}
outputs:
  rounds: {from: "${steps.a.outputs.rounds}"}
"""


def profile(server, folder, **options):
    agents = {name: {"driver": "script", "model": "play", "options": {"replies": [{"text": "x"}], **given}} for name, given in options.items()}
    made = server.request("PUT", "/api/profiles/team", {"name": "team", "repo_root": str(folder), "agents": agents})
    assert made.status in (200, 201), made


def rounds(server, **more):
    run = server.request("POST", "/api/run", {"workflow": "limited", "profile": "team", **more}).body["run_id"]
    server.finish(run)
    return server.result(run)["outputs"]["rounds"]


@pytest.fixture(name="server")
def server_with_definition(home):
    home.define(LIMIT)
    return home.serve()


def test_the_first_path_with_a_value_gives_the_default(server, tmp_path):
    profile(server, tmp_path)
    assert rounds(server) == 3
    profile(server, tmp_path, developer={"max_iterations": 7})
    assert rounds(server) == 7
    profile(server, tmp_path, developer={"max_iterations": 7}, reviewer={"max_iterations": 4})
    assert rounds(server) == 4
    assert rounds(server, inputs={"rounds": 9}) == 9


def test_a_value_of_another_type_refuses_the_start(server, tmp_path):
    profile(server, tmp_path, reviewer={"max_iterations": "many"})
    answer = server.request("POST", "/api/run", {"workflow": "limited", "profile": "team"})
    assert answer.status == 422 and "agents.reviewer.options.max_iterations" in str(answer.body), answer


def test_max_iterations_of_a_profile_is_no_option_of_the_driver(home, server, tmp_path):
    home.define("name: asks\nsteps: [{name: a, agent: reviewer, inputs: {prompt: x}}]\noutputs: {t: {from: '${steps.a.outputs.text}'}}\n")
    profile(server, tmp_path, reviewer={"max_iterations": 4})
    run = server.request("POST", "/api/run", {"workflow": "asks", "profile": "team"}).body["run_id"]
    server.finish(run)
    assert server.result(run)["outputs"] == {"t": "x"}


def test_the_last_reply_of_an_agent_that_was_sent_back_too_often_is_kept(home, server):
    home.define("""
name: stubborn
agents:
  ada: {driver: script, tools: [noop], required_tools: [noop], options: {replies: [{text: "# a plan"}]}}
steps:
  - {name: a, agent: ada, inputs: {prompt: x}, continue_on_error: true}
outputs:
  text: {from: "${steps.a.outputs.text}"}
  code: {from: "${steps.a.error.code}"}
""")
    run = server.run_of("stubborn")
    server.finish(run)
    assert server.result(run)["outputs"] == {"text": "# a plan", "code": "invalid"}
