"""One data folder, one owner; everybody else is its client, and takes its place when it goes."""
import os
import signal

from baton import EXIT, Home, new_id, wait_until, wait_until_none_with

GATED = """
name: gated
inputs:
  who: {type: string}
steps:
  - name: wait
    tool: shell
    inputs: {command: "echo up > told; read -r word < gate; echo ${inputs.who} $word"}
outputs:
  said: {from: "${steps.wait.outputs.stdout}"}
"""


def begin_gated(home, who, **env):
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define(GATED)
    process = home.begin("run", "gated", "--input", f"who={who}", "--id", run, **env)
    told.await_line()
    return process, told, gate


def test_a_second_run_on_the_same_folder_is_a_client(home):
    owner, _, owner_gate = begin_gated(home, "owner")
    client, _, client_gate = begin_gated(home, "client")
    assert f"pid {owner.pid} at " in open(os.path.join(home.data, "lock")).read()
    client_gate.send("ends first\n")
    assert client.wait() == 0
    assert client.output == '{"said":"client ends first\\n"}\n'
    owner_gate.send("ends last\n")
    assert owner.wait() == 0
    assert owner.output == '{"said":"owner ends last\\n"}\n'


def test_the_owner_stays_until_its_clients_are_served(home):
    owner, _, owner_gate = begin_gated(home, "owner")
    client, _, client_gate = begin_gated(home, "client")
    owner_gate.send("first\n")
    # Its own run is over and told; the client still needs it.
    assert owner.line() == '{"said":"owner first\\n"}\n'
    assert owner.popen.poll() is None
    client_gate.send("second\n")
    assert client.wait() == 0
    assert owner.wait() == 0
    assert client.output == '{"said":"client second\\n"}\n'


def test_a_client_of_a_server(home):
    server = home.serve()
    status, output, errors = home.cli("run", "two-steps", "--input", "who=client")
    assert (status, output) == (0, '{"greeting":"hello, client\\n"}\n'), errors
    assert server.get("/api/runs").body[0]["status"] == "success"


def test_a_second_server_is_refused_and_told_who_owns_the_folder(home):
    server = home.serve()
    second = home.begin_serve()
    assert second.wait() == EXIT["locked"]
    assert second.output == ""
    assert f"pid {server.pid} at http://{server.address}" in second.errors()
    assert "[locked]" in second.errors()
    assert server.get("/api/health").status == 200


def test_a_server_is_refused_while_a_run_owns_the_folder(home):
    owner, _, gate = begin_gated(home, "owner")
    second = home.begin_serve()
    assert second.wait() == EXIT["locked"]
    assert f"pid {owner.pid} at {home.data}/baton.sock" in second.errors()
    gate.send()
    assert owner.wait() == 0


def test_two_folders_are_two_owners(home):
    first = home.serve()
    with Home() as other:
        second = other.serve()
        assert second.get("/api/health").status == 200
    assert first.get("/api/health").status == 200


def test_a_client_takes_over_when_the_owner_is_killed(home):
    owner, owner_told, owner_gate = begin_gated(home, "owner")
    client, client_told, client_gate = begin_gated(home, "client")
    assert owner.kill() == -signal.SIGKILL
    # The client owns the folder now: it carries on every open run, the dead owner's too.
    client_told.await_line()
    owner_told.await_line()
    assert f"pid {client.pid} at " in open(os.path.join(home.data, "lock")).read()
    owner_gate.send("inherited\n")
    client_gate.send("own\n")
    assert client.wait() == 0
    assert client.output == '{"said":"client own\\n"}\n'
    assert client.errors().count("run.created") == 1
    assert client.errors().count("tool.restarted") == 1
    wait_until_none_with(home.data)


def test_of_several_clients_one_takes_over_and_all_end_well(home):
    server = home.serve()
    clients = [begin_gated(home, f"client{n}") for n in range(3)]
    server.kill()
    for _, told, gate in clients:
        told.await_line()
        gate.send("ends\n")
    for number, (client, _, _) in enumerate(clients):
        assert client.wait() == 0, client.errors()
        assert client.output == f'{{"said":"client{number} ends\\n"}}\n'


def test_a_client_does_not_start_its_run_twice(home):
    server = home.serve()
    client, told, gate = begin_gated(home, "client")
    server.kill()
    told.await_line()
    gate.send("once\n")
    assert client.wait() == 0
    server = home.serve()
    assert len(server.get("/api/runs").body) == 1


def test_a_socket_left_behind_is_no_obstacle(home):
    server = home.serve()
    server.kill()
    assert os.path.exists(os.path.join(home.data, "baton.sock"))
    status, output, errors = home.cli("run", "two-steps")
    assert (status, output) == (0, '{"greeting":"hello, world\\n"}\n'), errors
    assert home.serve().get("/api/health").status == 200


def test_watch_carries_an_orphaned_run_on(home):
    owner, told, gate = begin_gated(home, "owner")
    run = told.path.parent.name
    wait_until(lambda: run in owner.errors())
    owner.kill()
    watcher = home.begin("watch", run)
    told.await_line()
    gate.send("watched\n")
    assert watcher.wait() == 0
    assert watcher.output == '{"said":"owner watched\\n"}\n'


def test_the_folder_is_its_owners_alone(home):
    home.serve()
    for name in ("baton.db", "baton.sock", "lock"):
        assert os.stat(os.path.join(home.data, name)).st_mode & 0o077 == 0, name
