"""Shows the log output of the servers with a failed test.  A conftest.py imports the hook."""
import pytest
from baton import Home

TAIL = 40  # lines of each process


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    outcome = yield
    report = outcome.get_result()
    if not report.failed:
        return
    for home in Home.open:
        for process in home.started:
            lines = process.errors().splitlines()[-TAIL:]
            status = process.popen.poll()
            state = "running" if status is None else f"exit status {status}"
            report.sections.append((f"errors of process {process.pid}, {state}", "\n".join(lines)))
