"""http_fetch and http_send: what comes back, and where they do not go."""
import contextlib
import signal
import socket
import ssl
import subprocess

import pytest
from test_tools import LOOPBACK, finish, of_type, one_step, run
from world import World


@pytest.fixture
def world():
    with World() as world:
        yield world


@pytest.fixture
def allowed(home):
    """A server whose http tools may reach this machine."""
    return home.serve(**LOOPBACK)


def fetch(home, server, url, more=""):
    return run(home, server, "http_fetch", f"{{url: '{url}'{more}}}")


def output(result):
    assert result["status"] == "success", result
    return result["outputs"]["all"]


def fault(server, result):
    assert result["status"] == "failed", result
    return of_type(server.events(result["run_id"]), "tool.finished")[0]["fault"]


def test_text_json_and_bytes(home, allowed, world):
    text = output(fetch(home, allowed, world.base + "/text"))
    assert (text["status"], text["body"], text["encoding"], text["truncated"]) == (200, "grüße", "text", False)
    assert text["headers"]["content-type"] == "text/plain; charset=utf-8"
    assert "json" not in text
    assert output(fetch(home, allowed, world.base + "/json"))["json"] == {"a": [1, {"b": None}]}
    odd = output(fetch(home, allowed, world.base + "/bytes"))
    assert (odd["body"], odd["encoding"]) == ("/wD+", "base64")
    head = output(fetch(home, allowed, world.base + "/text", ", method: HEAD"))
    assert (head["status"], head["body"]) == (200, "")


def test_a_large_answer_is_cut_off(home, allowed, world):
    cut = output(fetch(home, allowed, world.base + "/large?3000000", ", max_bytes: 1000"))
    assert (cut["body"], cut["truncated"]) == ("x" * 1000, True)
    whole = output(fetch(home, allowed, world.base + "/large?1000", ", max_bytes: 1000"))
    assert (whole["body"], whole["truncated"]) == ("x" * 1000, False)


def test_a_bad_status_fails_the_step_unless_it_is_wanted(home, allowed, world):
    failed = fault(allowed, fetch(home, allowed, world.base + "/status/404"))
    assert failed == {"code": "tool_failed", "text": "status 404: so it is"}
    assert output(fetch(home, allowed, world.base + "/status/404", ", fail_on_status: false"))["status"] == 404


def test_redirects_are_followed_and_the_last_place_is_told(home, allowed, world):
    result = output(fetch(home, allowed, world.base + "/to?/to?/text"))
    assert (result["url"], result["body"]) == (world.base + "/text", "grüße")


def test_methods_headers_and_bodies(home, allowed, world):
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        sent = output(run(home, allowed, "http_send",
                          f"{{url: '{world.base}/x', method: {method}, body: hello, headers: {{X-Mine: a}}}}"))
        assert sent["body"] == f"{method} /x hello"
        assert world.ledger[-1].headers["X-Mine"] == "a"
    keys = {asked.headers["Idempotency-Key"] for asked in world.ledger}
    assert len(keys) == 4
    result = run(home, allowed, "http_send", f"{{url: '{world.base}/x', headers: {{idempotency-key: mine}}}}")
    assert fault(allowed, result)["code"] == "invalid"


def test_it_ends_after_its_time(home, allowed, world):
    failed = fault(allowed, fetch(home, allowed, world.base + "/hold", ", timeout_seconds: 2"))
    assert failed["code"] == "timeout"
    assert [asked.path for asked in world.await_asked(1)] == ["/hold"]


@pytest.mark.parametrize("path,waits,says", [
    ("/hold", "first_byte_seconds: 0.1", "no response within 0.1 seconds"),
    ("/half", "idle_seconds: 0.1", "no more data within 0.1 seconds"),
])
def test_each_part_of_it_has_a_time_of_its_own(home, allowed, world, path, waits, says):
    failed = fault(allowed, fetch(home, allowed, world.base + path, f", waits: {{{waits}}}"))
    assert failed == {"code": "timeout", "text": says}
    assert [asked.path for asked in world.await_asked(1)] == [path]


def test_a_connection_that_never_stands_ends(home, allowed):
    with contextlib.ExitStack() as open_sockets:
        deaf = open_sockets.enter_context(socket.socket())
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        for _ in range(4):  # a full queue: whoever comes next is not answered
            filler = open_sockets.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(deaf.getsockname())
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/"
        failed = fault(allowed, fetch(home, allowed, url, ", waits: {connect_seconds: 0.1}"))
        assert failed == {"code": "timeout", "text": "no connection within 0.1 seconds"}


def test_a_stream_of_pieces_is_one_body(home, allowed, world):
    assert output(fetch(home, allowed, world.base + "/drip?1000"))["body"] == "0123456789" * 100


def test_a_request_that_an_orderly_stop_cut_off_is_made_again(home, world):
    """The program does not wait for it beyond its time to drain, and nothing of it is left behind."""
    server = home.serve(BATON_SERVE_DRAIN_SECONDS="0", **LOOPBACK)
    home.define(one_step("http_fetch", f"{{url: '{world.base}/hold'}}"))
    run = server.run_of("one")
    world.await_asked(1)
    server.popen.send_signal(signal.SIGTERM)
    assert server.wait() == 0
    world.release()
    result, events = finish(home, run, **LOOPBACK)
    assert result["outputs"]["all"]["body"] == "released"
    assert len(of_type(events, "tool.restarted")) == 1 and len(world.ledger) == 2


def test_connections_are_used_again(home, allowed, world):
    for _ in range(3):
        output(fetch(home, allowed, world.base + "/text"))
    assert world.connections == 1


# ---- where it does not go -------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0x7f000001", "[::ffff:127.0.0.1]", "0.0.0.0"])
def test_this_machine_is_refused_unless_it_is_allowed(home, server, world, host):
    port = world.server_address[1]
    failed = fault(server, fetch(home, server, f"http://{host}:{port}/text"))
    assert failed["code"] == "forbidden" and "tools.private_addresses" in failed["text"]
    assert world.ledger == []


@pytest.mark.parametrize("address", ["169.254.169.254", "10.0.0.1", "192.168.1.1", "100.64.0.1", "[fd00::1]", "[fe80::1]"])
def test_private_networks_and_metadata_are_refused(home, server, address):
    assert fault(server, fetch(home, server, f"http://{address}/latest"))["code"] == "forbidden"


def test_our_own_listener_is_refused_even_where_this_machine_is_allowed(home, allowed):
    failed = fault(allowed, fetch(home, allowed, f"http://{allowed.address}/api/health"))
    assert failed["code"] == "forbidden"


def test_a_redirect_to_a_private_address_is_refused(home, allowed, world):
    failed = fault(allowed, fetch(home, allowed, world.base + "/to?http://169.254.169.254/"))
    assert failed["code"] == "forbidden"
    failed = fault(allowed, fetch(home, allowed, world.base + "/to?file:///etc/passwd"))
    assert failed["code"] == "invalid" and "redirect" in failed["text"]


def test_other_schemes_are_refused(home, allowed):
    for url in ("file:///etc/passwd", "ftp://127.0.0.1/x", "http://me:word@127.0.0.1/"):
        assert fault(allowed, fetch(home, allowed, url))["code"] == "invalid"


def test_a_proxy_of_the_environment_is_not_used(home, world):
    with socket.socket() as trap:
        trap.bind(("127.0.0.1", 0))
        trap.listen()
        trap.setblocking(False)
        proxy = f"http://127.0.0.1:{trap.getsockname()[1]}"
        server = home.serve(http_proxy=proxy, HTTPS_PROXY=proxy, ALL_PROXY=proxy, **LOOPBACK)
        assert output(fetch(home, server, world.base + "/text"))["status"] == 200
        with pytest.raises(BlockingIOError):
            trap.accept()


def test_a_certificate_that_nobody_vouches_for_is_refused(home, allowed, tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
                    "-days", "1", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
                   check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with World(context) as world:
        failed = fault(allowed, fetch(home, allowed, world.base + "/text"))
        assert failed["code"] == "io" and "certificate" in failed["text"].lower()
        assert world.ledger == []


def test_a_wrong_private_address_stops_the_start(home):
    server = home.begin_serve(BATON_TOOLS_PRIVATE_ADDRESSES="127.0.0.1,everything")
    assert not server.listen()
    assert server.wait() == 2
    assert "tools.private_addresses" in server.errors() and "everything" in server.errors()
