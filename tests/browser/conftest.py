"""A browser on the dashboard.  The server is the real program; Debian's Chromium is moved by
driver.mjs.  Every page is looked at when its test is over: it may not have complained, and may not
have asked anybody but the server it came from for anything."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

pytest.register_assert_rewrite("baton", "browser")

from baton import Home  # noqa: E402
from browser import Driver, Page  # noqa: E402
from report import pytest_runtest_makereport  # noqa: E402,F401


@pytest.fixture(scope="session")
def driver():
    driver = Driver()
    yield driver
    driver.close()


@pytest.fixture
def home():
    with Home() as home:
        yield home


@pytest.fixture
def server(home):
    """On a port that a second one can have when this one is killed."""
    return home.serve(port=home.port())


@pytest.fixture
def browse(driver, request):
    """Opens tabs; each is looked at in the end."""
    pages = []

    def browse(path="/ui/", server=None, **options):
        page = Page(driver, server or request.getfixturevalue("server"), options)
        pages.append(page)
        return page.open(path)

    yield browse
    for page in pages:
        page.close()


@pytest.fixture
def restart(home):
    """kill -9 of a server, and another one on its port."""

    def restart(server, while_away=lambda: None):
        port = server.address.rsplit(":", 1)[1]
        server.kill()
        while_away()
        return home.serve(port=port)

    return restart
