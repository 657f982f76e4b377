"""tools/check-source in a repository of its own: what it finds in headers, comments and names."""
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOOD = "/* room/thing.h -- one thing.\n *\n * More of it.  And more.\n *\n *\ta  table\n */\nvoid thing_do(void);\n"


class Repository:
    def __init__(self, path):
        self.path = path
        (path / "tools").mkdir()
        shutil.copy(ROOT / "tools/check-source", path / "tools")
        self.write("tools/prefixes.txt", "# rule\nagreed room short  # why\nexcept other room/thing.c\n")
        self.write("src/room/thing.h", GOOD)
        subprocess.run(["git", "init", "-q"], cwd=path, check=True)

    def write(self, name, text):
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(text)

    def build(self, text, room="room"):
        """Compiles src/room/thing.c into the room's library."""
        self.write(f"src/{room}/thing.c", text)
        self.write(f"build/src/{room}/thing.c.o", "")
        for words in (["cc", "-c", f"../../../src/{room}/thing.c", "-o", "thing.c.o"], ["ar", "rcs", f"lib{room}.a", "thing.c.o"]):
            subprocess.run(words, cwd=self.path / "build/src" / room, check=True)

    def check(self, *words):
        done = subprocess.run([str(self.path / "tools/check-source"), *words], capture_output=True, text=True,
                              env={"PATH": os.environ["PATH"]})
        assert done.stderr == ""
        return done.returncode, done.stdout.splitlines()


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path)


def test_a_header_has_at_most_200_lines(repository):
    repository.write("src/room/thing.h", GOOD + "\n" * (200 - GOOD.count("\n")))
    status, lines = repository.check("headers")
    assert status == 0 and lines[-1] == "1 headers, 0 over 200 lines"
    repository.write("src/room/thing.h", GOOD + "\n" * (201 - GOOD.count("\n")))
    status, lines = repository.check("headers")
    assert status == 1 and lines[0] == "src/room/thing.h:201: a header has at most 200 lines"


def test_good_comments(repository):
    repository.write("src/room/more.c", "/* room/more.c -- more: of it,\n * and more (RFC 1, 2). */\nchar *a = \"/*\\n *x\";\n")
    assert repository.check("comments") == (0, ["2 files, 0 comments out of shape"])


@pytest.mark.parametrize("text, found", [
    (GOOD.replace("room/thing.h", "thing.h"), ':1: does not begin with "/* room/thing.h -- what it is for"'),
    (GOOD.replace("one thing.", "one thing"), ":1: what it is for does not end with a full stop"),
    (GOOD.replace("one thing.", "one thing.  It is good."), ":1: what it is for is more than one sentence: an empty line ends it"),
    (GOOD.replace("one thing.", "which thing?  One."), ":1: what it is for is more than one sentence: an empty line ends it"),
    (GOOD.replace(" *\ta  table", " *a  table"), ":5: no space behind the asterisk")])
def test_comments_out_of_shape(repository, text, found):
    repository.write("src/room/thing.h", text)
    status, lines = repository.check("comments")
    assert status == 1 and lines[0] == f"src/room/thing.h{found}"


def test_functions_are_named_after_their_module(repository):
    repository.build("static void any(void) {}\nvoid thing(void) { any(); }\nvoid thing_do(void) {}\nvoid room_do(void) {}\n"
                     "void short_do(void) {}\nvoid other(void) {}\n")
    assert repository.check("prefixes") == (0, ["5 external functions, 1 named after something else"])


def test_a_function_with_another_prefix(repository):
    repository.build("void things(void) {}\nvoid other(void) {}\n")
    status, lines = repository.check("prefixes")
    assert status == 1 and len(lines) == 2 and lines[0].startswith("src/room/thing.c: things() is not named after its module")


def test_a_function_that_is_there_twice(repository):
    """The linker takes the first for both callers."""
    repository.build("void thing_do(void) {}\n")
    repository.build("void thing_do(int n) { (void)n; }\n", "there")
    status, lines = repository.check("prefixes")
    assert status == 1 and lines[0] == "src/room/thing.c: thing_do() is in src/there/thing.c, too: one program cannot have both"


def test_a_header_of_the_room_gives_its_name(repository):
    repository.build("void deed_do(void) {}\n")
    assert repository.check("prefixes")[0] == 1
    repository.write("src/room/deed.h", "/* room/deed.h -- a deed. */\nvoid deed_do(void);\n")
    assert repository.check("prefixes")[0] == 0


def test_exceptions_only_shrink(repository):
    repository.build("void thing_do(void) {}\nvoid new(void) {}\n")
    status, lines = repository.check("prefixes", "--write")
    assert status == 1 and "new() is not named" in lines[0]
    assert (repository.path / "tools/prefixes.txt").read_text() == "# rule\nagreed room short  # why\n"


def test_nothing_is_built(repository):
    assert repository.check("prefixes")[0] == 1


def test_counts(repository):
    repository.build("static int one(void)\n{\n\treturn 1;\n}\n\nint thing_do(void)\n{\n\tint a = one();\n\ta++;\n\ta++;\n\treturn a;\n}\n")
    repository.write("src/other/thing.h", "")
    repository.write("tests/golden/contract.txt", "a\nb\n")
    status, lines = repository.check("counts")
    assert status == 0
    assert lines[-1].startswith("1 basenames twice; 0 headers over 200; 1 of 2 functions in 3 lines (1 called once); 0 prefixes; "
                                "golden lines 2 listed + 0 histories and views")
