"""The log of a run without a browser: every kind of disorder, by seed."""
import json
import subprocess

from baton import PATIENCE_S, ROOT
from browser import HERE, node


def test_a_log_ends_as_the_store_is():
    done = subprocess.run([node(), HERE / "log.mjs", ROOT / "web", "500"], capture_output=True, text=True,
                          timeout=2 * PATIENCE_S)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
