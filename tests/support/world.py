"""A web server for tests: it answers by rules and records every request."""
import collections
import contextlib
import http.server
import json
import threading
import urllib.request

from baton import PATIENCE_S

Asked = collections.namedtuple("Asked", "method path headers body")


class World(http.server.ThreadingHTTPServer):
    """Paths:
        /text /json /bytes   a response of that type
        /status/N            a response with that status
        /to?PLACE            a redirect to PLACE
        /large?N             N bytes
        /drip?N              N bytes, each sent separately
        /half                half a response, and the rest when release() is called
        /cut                 records the request and closes the connection without a response
        /hold                no response until release() is called, then "released"
        a key of `answers`   its value, or what that returns for the request, as JSON
        any other path       "METHOD path" and the body
    """
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, context=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.ledger, self.changed = [], threading.Condition()
        self.answers, self.gate = {}, threading.Event()
        self.connections = 0
        self.open, self.closes = 0, False  # open connections; whether each takes one request only
        if context is not None:
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.base = f"http{'s' if context else ''}://127.0.0.1:{self.server_address[1]}"
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def note(self, asked):
        with self.changed:
            self.ledger.append(asked)
            self.changed.notify_all()

    def await_asked(self, count):
        """Waits for that many requests and returns the ledger."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.ledger) >= count, PATIENCE_S), self.ledger
            return list(self.ledger)

    def process_request(self, request, client_address):
        with self.changed:
            self.open += 1
        super().process_request(request, client_address)

    def shutdown_request(self, request):
        super().shutdown_request(request)
        with self.changed:
            self.open -= 1
            self.changed.notify_all()

    def settle(self):
        """Waits until the ledger has every request that dead clients had sent.  Connections are accepted in
        order, so after a connection of our own all of theirs have been accepted; each ends with its request."""
        assert self.closes
        urllib.request.urlopen(self.base + "/settle", timeout=PATIENCE_S).read()
        with self.changed:
            assert self.changed.wait_for(lambda: self.open == 0, PATIENCE_S), f"{self.open} connections stay open"

    def release(self):
        self.gate.set()

    def handle_error(self, request, client_address):
        pass  # some tests disconnect their clients on purpose

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()
        self.shutdown()
        self.server_close()
        self.thread.join()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.server.connections += 1

    def log_message(self, *_):
        pass

    def answer(self, status, body, kind="text/plain", **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        if self.server.closes:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def pieces(self, pieces, whole=True):
        """An answer in chunks."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in pieces:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if whole:
            self.wfile.write(b"0\r\n\r\n")

    def any(self):
        size = int(self.headers.get("Content-Length", 0))
        self.close_connection = self.close_connection or self.server.closes
        body = self.rfile.read(size)
        if len(body) < size:
            return  # the client died in the middle of its request: nothing to record
        path, _, query = self.path.partition("?")
        asked = Asked(self.command, path, dict(self.headers), body)
        self.server.note(asked)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if path in self.server.answers:
                answer = self.server.answers[path]
                answer = answer(asked) if callable(answer) else answer
                self.answer(200, json.dumps(answer).encode(), "application/json")
            elif path == "/text":
                self.answer(200, "grüße".encode(), "text/plain; charset=utf-8")
            elif path == "/json":
                self.answer(200, json.dumps({"a": [1, {"b": None}]}).encode(), "application/json; charset=utf-8")
            elif path == "/bytes":
                self.answer(200, bytes([255, 0, 254]), "application/octet-stream")
            elif path.startswith("/status/"):
                self.answer(int(path.split("/")[2]), b"so it is")
            elif path == "/to":
                self.answer(302, b"", Location=query)
            elif path == "/large":
                self.answer(200, b"x" * int(query))
            elif path == "/drip":
                self.pieces(b"0123456789"[n % 10:n % 10 + 1] for n in range(int(query)))
            elif path == "/half":
                self.pieces(iter([b"half"]), whole=False)
                self.server.gate.wait(PATIENCE_S)
                self.close_connection = True
            elif path == "/cut":
                self.close_connection = True
            elif path == "/hold":
                self.server.gate.wait(PATIENCE_S)
                self.answer(200, b"released")
            else:
                self.answer(200, f"{self.command} {path} ".encode() + body)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = any
