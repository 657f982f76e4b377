"""Prints at the end which situations the examples reached, so that a gap in the generator is visible."""
import test_engine


def pytest_sessionfinish(session):
    test_engine.probe.close()


def pytest_terminal_summary(terminalreporter):
    seen = test_engine.seen
    for group in ("", "run ", "node ", "tool ", "session ", "command "):
        names = sorted(name for name in seen if name.startswith(group) and (group or " " not in name))
        terminalreporter.write_line((group or "seen: ") + ", ".join("%s %d" % (name[len(group):], seen[name]) for name in names))
