"""The program on a terminal of its own."""
import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios

from baton import PATIENCE_S, PROGRAM, environment, wait_until

ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Terminal:
    """The program on a terminal of its own; `screen` is the last picture it drew.  With `errors` its standard error goes
    to the terminal too."""

    def __init__(self, home, *words, rows=40, columns=120, errors=False, **env):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            [PROGRAM, "--home", home.data, *words], env=environment(**{"TERM": "xterm", **env}),
            stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs if errors else subprocess.DEVNULL)
        os.close(theirs)
        self.text = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(timeout=PATIENCE_S)
        os.close(self.ours)

    def read(self):
        """False at its end."""
        ready, _, _ = select.select([self.ours], [], [], PATIENCE_S)
        assert ready, f"nothing is drawn any more: {self.text[-2000:]}"
        with contextlib.suppress(OSError):  # EIO is the end of a terminal
            piece = os.read(self.ours, 65536).decode(errors="replace").replace("\r\n", "\n")
            self.text += piece
            return piece != ""
        return False

    @property
    def screen(self):
        return ESCAPE.sub("", re.split(r"\x1b\[\d+A\x1b\[J", self.text)[-1])

    def until(self, pattern):
        wait_until(lambda: re.search(pattern, self.screen, re.M) or not self.read())
        assert re.search(pattern, self.screen, re.M), self.screen

    def wait(self):
        while self.read():
            pass
        return self.process.wait(timeout=PATIENCE_S)
