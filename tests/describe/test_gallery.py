"""The images of the gallery are what the program draws of the examples."""
import pathlib
import shutil
import subprocess

import pytest

from baton import PATIENCE_S, PROGRAM, environment

ROOT = pathlib.Path(__file__).resolve().parents[2]


def gallery(tree, *words):
    return subprocess.run([tree / "tools/gallery", *words], env={**environment(), "BATON": str(PROGRAM)}, capture_output=True, text=True, timeout=PATIENCE_S)


def test_every_example_is_shown_with_its_current_image():
    done = gallery(ROOT, "--check")
    assert done.returncode == 0, done.stderr
    names = sorted(path.stem for path in (ROOT / "examples").glob("*.yaml"))
    assert sorted(path.stem for path in (ROOT / "docs/images/gallery").iterdir()) == names and len(names) >= 15
    for name in names:
        assert (ROOT / f"docs/images/gallery/{name}.svg").read_text().startswith("<svg ")


@pytest.fixture
def tree(tmp_path):
    for folder in ("tools", "examples", "docs/images/gallery"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("tools/gallery", "examples/two-steps.yaml", "docs/gallery.md", "docs/images/gallery/two-steps.svg"):
        shutil.copy(ROOT / name, tmp_path / name)
    assert gallery(tmp_path, "--check").returncode == 0
    return tmp_path


def test_an_image_that_is_not_current_or_not_shown_is_noticed(tree):
    image = tree / "docs/images/gallery/two-steps.svg"
    old = image.read_text()
    image.write_text(old.replace("<rect", "<rect rx='1'", 1))
    refused = gallery(tree, "--check")
    assert refused.returncode == 1 and "is not current; run tools/gallery" in refused.stderr
    assert gallery(tree).returncode == 0 and image.read_text() == old
    (tree / "docs/images/gallery/gone.svg").write_text("<svg ")
    assert gallery(tree, "--check").returncode == 1
    (tree / "docs/gallery.md").write_text("# Gallery\n")
    assert "does not show images/gallery/two-steps.svg" in gallery(tree).stderr
