"""sandbox.network: the only way from a sandbox to the network, and what it refuses."""
import shutil
import ssl
import subprocess

import pytest
from baton import new_id
from test_sandbox import SHELL, said, shell
from world import World

PRIVATE = "127.0.0.1"
ASK = """
import http.client, socket, sys
def ask(head, more=b""):
    with socket.create_connection(("127.0.0.1", 3128)) as proxy:
        proxy.sendall(head.encode() + more)
        answer = b""
        while piece := proxy.recv(65536):
            answer += piece
        return answer
"""


@pytest.fixture
def world():
    with World() as world:
        world.port = world.server_address[1]
        yield world


def serve(home, *hosts, private=PRIVATE, **env):
    return home.serve(BATON_SANDBOX_NETWORK=",".join(hosts), BATON_TOOLS_PRIVATE_ADDRESSES=private, **env)


def python(home, server, script):
    return said(shell(home, server, f"/usr/bin/python3 - <<'END'\n{ASK}{script}\nEND\n"))


def status_of(home, server, head):
    return python(home, server, f"print(ask({head!r}).split(b'\\r\\n')[0].decode())").strip()


def test_both_kinds_of_requests(home, world):
    server = serve(home, f"127.0.0.1:{world.port}")
    text = said(shell(home, server, f"curl -sS --noproxy '' http://127.0.0.1:{world.port}/a?b; curl -sSp --noproxy '' http://127.0.0.1:{world.port}/tunnel"))
    assert "GET /a " in text and "GET /tunnel" in text
    # what is meant for the proxy does not reach the host, and the host is the one of the URL
    python(home, server, f"print(ask('GET http://127.0.0.1:{world.port}/h HTTP/1.1\\r\\nHost: elsewhere\\r\\n"
                         "Proxy-Authorization: x\\r\\nX-Kept: 1\\r\\n\\r\\n'))")
    asked = world.await_asked(3)[-1]
    headers = {name.lower(): value for name, value in dict(asked.headers).items()}
    assert headers["host"] == f"127.0.0.1:{world.port}" and headers["x-kept"] == "1" and "proxy-authorization" not in headers


def test_there_is_no_other_way(home, world):
    server = serve(home, f"127.1:{world.port}")
    step = shell(home, server, f"curl -sS --noproxy '*' --max-time 5 http://127.0.0.1:{world.port}/; echo $?; "
                               f"curl -sS --noproxy '*' --max-time 5 http://192.0.2.1/; echo $?; cat /proc/net/dev | grep -c :")
    assert said(step).split() == ["7", "7", "1"]
    assert world.ledger == []


@pytest.mark.parametrize("rule, host, allowed", [
    ("127.1:PORT", "127.1", True), ("127.0.0.1:PORT", "127.1", False), ("127.1", "127.1", False), ("127.1:1", "127.1", False),
    ("*.1:PORT", "127.1", True), ("*.27.1:PORT", "127.1", False), ("LOCALHOST:PORT", "localhost.", True), ("ocalhost:PORT", "localhost", False)])
def test_hosts_and_ports(home, world, rule, host, allowed):
    server = serve(home, rule.replace("PORT", str(world.port)))
    status = status_of(home, server, f"GET http://{host}:{world.port}/x HTTP/1.1\r\n\r\n")
    assert status.split()[1] == ("200" if allowed else "403")
    assert len(world.ledger) == allowed


def test_a_refusal_is_counted_and_logged_with_its_step(home, world):
    server = serve(home, "example.com")
    run = new_id()
    home.define(SHELL)
    server.start("shell", {"command": f"curl -sS --noproxy '' http://127.0.0.1:{world.port}/"}, run_id=run)
    result = server.finish(run)
    assert "sandbox.network does not allow this host and port" in result["steps"][0]["output"]["stdout"]
    assert f"run {run}: step step (shell): the proxy refused 127.0.0.1:{world.port}: sandbox.network does not allow" in server.errors()
    figures = server.figures()
    assert figures["baton_proxy_connections_total"] == figures["baton_proxy_refusals_total"] == 1


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "169.254.169.254", "10.1.2.3", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"])
def test_private_addresses_are_refused_after_the_lookup(home, world, host):
    rule = f"{host}:{world.port}"
    server = serve(home, rule, private="")
    status = status_of(home, server, f"CONNECT {rule} HTTP/1.1\r\n\r\n")
    assert status == "HTTP/1.1 403 Forbidden"
    assert "private, or Baton's own" in server.errors() and world.ledger == []


def test_our_own_port_is_refused_even_if_it_is_listed(home):
    port = home.port()
    server = home.begin_serve(port=port, BATON_SANDBOX_NETWORK=f"127.1:{port}", BATON_TOOLS_PRIVATE_ADDRESSES=PRIVATE)
    assert server.listen()
    assert status_of(home, server, f"CONNECT 127.1:{port} HTTP/1.1\r\n\r\n") == "HTTP/1.1 403 Forbidden"


@pytest.mark.parametrize("head", [
    "GET / HTTP/1.1\r\n\r\n", "CONNECT 127.1 HTTP/1.1\r\n\r\n", "CONNECT 127.1:99999 HTTP/1.1\r\n\r\n", "CONNECT a@127.1:80 HTTP/1.1\r\n\r\n",
    "GET http://a:b@127.1/ HTTP/1.1\r\n\r\n", "GET ftp://127.1/ HTTP/1.1\r\n\r\n", "GET http://127.1/ HTTP/2\r\n\r\n", "GET http:// HTTP/1.1\r\n\r\n",
    "GET http://127.1/ HTTP/1.1\r\n folded: x\r\n\r\n", "GET http://127.1/ HTTP/1.1\nHost: x\r\n\r\n", "nonsense\r\n\r\n", "CONNECT 127..1:80 HTTP/1.1\r\n\r\n"])
def test_malformed_requests(home, head):
    server = serve(home, "127.1")
    assert status_of(home, server, head) == "HTTP/1.1 400 Bad Request"


def test_a_head_without_end(home):
    server = serve(home, "127.1")
    assert python(home, server, "print(ask('GET http://127.1/' + 'x' * 20000).split(b' ')[1].decode())").strip() == "431"


def test_large_bodies_in_both_directions(home, world):
    server = serve(home, f"127.0.0.1:{world.port}")
    size = 3_000_000
    script = (f"head -c {size} /dev/zero > body; curl -sS --noproxy '' http://127.0.0.1:{world.port}/large?{size} | wc -c; "
              f"curl -sSp --noproxy '' http://127.0.0.1:{world.port}/large?{size} | wc -c; curl -sS --noproxy '' --data-binary @body http://127.0.0.1:{world.port}/post | wc -c")
    down, tunneled, echoed = map(int, said(shell(home, server, script)).split())
    assert down == tunneled == size and echoed >= size
    assert server.figures()["baton_proxy_bytes_total"] > 4 * size


def test_many_connections_at_once_are_bounded(home, world):
    server = serve(home, f"127.1:{world.port}")
    script = """
connections = [socket.create_connection(("127.0.0.1", 3128)) for _ in range(80)]
refused = 0
for one in connections[64:]:
    refused += b"503" in one.recv(100)
print(refused)"""
    assert python(home, server, script).strip() == "16"
    assert server.rejections("PROXY_LINE_CONNECTIONS") == 16
    # they are gone with their command
    assert status_of(home, server, f"GET http://127.1:{world.port}/x HTTP/1.1\r\n\r\n") == "HTTP/1.1 200 OK"


def test_a_host_that_cannot_be_reached(home):
    port = home.port()
    server = serve(home, f"127.1:{port}", "nonexistent.invalid:80")
    assert status_of(home, server, f"CONNECT 127.1:{port} HTTP/1.1\r\n\r\n") == "HTTP/1.1 502 Bad Gateway"
    assert status_of(home, server, "CONNECT nonexistent.invalid:80 HTTP/1.1\r\n\r\n") == "HTTP/1.1 502 Bad Gateway"


def test_a_step_with_network_is_once_and_other_contained_tools_stay_contained(home):
    server = serve(home, "example.com")
    classes = {one["name"]: one["class"] for one in server.get("/api/tools").body["items"]}
    assert (classes["shell"], classes["write_file"]) == ("once", "contained")
    run = new_id()
    home.define(SHELL)
    server.start("shell", {"command": "true"}, run_id=run)
    server.finish(run)
    [requested] = [event for event in server.events(run) if event["type"] == "tool.requested"]
    assert requested["data"]["class"] == "once"


@pytest.mark.parametrize("rule", ["http://example.com", "exa mple", "*", "*.*.com", "example.com:0", "example.com:x", "a..b"])
def test_a_rule_that_is_no_host_refuses_the_start(home, rule):
    server = home.begin_serve(BATON_SANDBOX_NETWORK=rule)
    assert not server.listen() and server.wait() == 2
    assert "sandbox.network: " in server.errors()


def test_without_hosts_there_is_no_proxy(home, server):
    assert said(shell(home, server, "env | grep -i proxy; curl -sS --max-time 5 -x http://127.0.0.1:3128 http://example.com 2>/dev/null; echo $?")) == "7\n"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_tls_through_the_tunnel(home):
    """git, pip, npm and cargo use CONNECT: the proxy sees bytes only."""
    key, certificate = f"{home.path}/key", f"{home.path}/certificate"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
                    "-subj", "/CN=localhost"], check=True, capture_output=True)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with World(context) as world:
        server = serve(home, f"127.0.0.1:{world.server_address[1]}")
        assert "GET /safe" in said(shell(home, server, f"curl -sSk --noproxy '' https://127.0.0.1:{world.server_address[1]}/safe"))
