"""Receivers of notifications on loopback: an HTTP server whose answers a test chooses, and a mail server."""
import base64
import collections
import email
import email.policy
import http.server
import json
import queue
import socket
import socketserver
import ssl
import threading

from baton import PATIENCE_S

Received = collections.namedtuple("Received", "headers body path")


class Receiver:
    """Answers every POST with the next of `answers` (a status, or a status and headers), then with 200.  A test may
    hold the answers back with `gate`."""

    def __init__(self, answers=(), port=0):
        self.requests = queue.Queue()
        self.all = []
        self.answers = collections.deque(answers)
        self.gate = threading.Event()
        self.gate.set()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                got = Received(dict(self.headers.items()), body, self.path)
                outer.all.append(got)
                status, headers = outer.next_answer()
                outer.requests.put(got)
                outer.gate.wait()
                try:
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", "2")
                    self.end_headers()
                    self.wfile.write(b"ok")
                except OSError:
                    pass  # the sender was killed, or did not want to wait

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        self.server = Server(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def next_answer(self):
        answer = self.answers.popleft() if self.answers else 200
        return answer if isinstance(answer, tuple) else (answer, {})

    def take(self):
        """The next request."""
        return self.requests.get(timeout=PATIENCE_S)

    def take_json(self):
        return json.loads(self.take().body)

    def close(self):
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


Mail = collections.namedtuple("Mail", "sender to user password tls message")


class MailServer:
    """SMTP with EHLO, STARTTLS (with a certificate), AUTH PLAIN and LOGIN, and what else a client says."""

    def __init__(self, certificate=None, refuse=None):
        self.mails = queue.Queue()
        refuse = refuse or {}
        self.said = []  # every command, in the order of arrival
        outer = self
        context = None
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)

        class Handler(socketserver.StreamRequestHandler):
            def say(self, text):
                self.wfile.write(text.encode() + b"\r\n")

            def hear(self):
                line = self.rfile.readline()
                if not line:
                    raise ConnectionError
                return line.decode().rstrip("\r\n")

            def handle(self):
                try:
                    self.converse()
                except (OSError, ssl.SSLError):
                    pass

            def converse(self):
                tls, user, password, sender, to = False, None, None, None, []
                self.say("220 fake")
                while True:
                    line = self.hear()
                    word = line.split(" ")[0].upper()
                    outer.said.append(word)
                    if word in refuse:
                        self.say(refuse[word])
                    elif word == "EHLO":
                        self.say("250-fake")
                        if context is not None and not tls:
                            self.say("250-STARTTLS")
                        self.say("250 AUTH PLAIN")
                    elif word == "STARTTLS":
                        self.say("220 go")
                        self.connection = context.wrap_socket(self.connection, server_side=True)
                        self.rfile = self.connection.makefile("rb")
                        self.wfile = self.connection.makefile("wb", buffering=0)
                        tls = True
                    elif word == "AUTH":
                        parts = line.split(" ")
                        if len(parts) < 3:
                            self.say("334 ")
                            parts.append(self.hear())
                        _, user, password = base64.b64decode(parts[2]).decode().split("\0")
                        self.say("235 ok")
                    elif word == "MAIL":
                        sender = line.split("<")[1].split(">")[0]
                        self.say("250 ok")
                    elif word == "RCPT":
                        to.append(line.split("<")[1].split(">")[0])
                        self.say("250 ok")
                    elif word == "DATA":
                        self.say("354 go")
                        lines = []
                        while (line := self.hear()) != ".":
                            lines.append(line[1:] if line.startswith("..") else line)
                        message = email.message_from_string("\r\n".join(lines), policy=email.policy.default)
                        self.say("250 taken")
                        outer.mails.put(Mail(sender, to, user, password, tls, message))
                    elif word == "QUIT":
                        self.say("221 bye")
                        return
                    else:
                        self.say("500 what")

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.url = f"smtp://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self):
        return self.mails.get(timeout=PATIENCE_S)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def free_port():
    """A port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
