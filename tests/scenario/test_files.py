"""Files of a profile's repository, and paths for new profiles."""
import os
import urllib.parse

import pytest


@pytest.fixture(name="folder")
def repository(tmp_path):
    root = tmp_path / "site"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "plan.md").write_text("# Plan\n")
    (root / "docs" / "note.txt").write_text("x")
    (root / "bytes.md").write_bytes(b"\xff")
    (root / "large.md").write_text("x" * (1 << 20 | 1))
    (tmp_path / "secret.md").write_text("secret")
    (root / "docs" / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "docs" / "in.md").symlink_to("plan.md")
    return root


@pytest.fixture(name="server")
def server_with_profile(home, folder):
    server = home.serve()
    assert server.request("PUT", "/api/profiles/work", {"name": "work", "repo_root": str(folder)}).status == 201
    return server


def read(server, path):
    return server.request("POST", "/api/files/read", {"path": str(path)})


def test_files_are_read_by_relative_and_absolute_paths(server, folder):
    whole = {"filename": "plan.md", "path": "docs/plan.md", "content": "# Plan\n"}
    assert read(server, "docs/plan.md").body == read(server, folder / "docs" / "plan.md").body == whole
    assert server.get("/api/files/docs/plan.md").body == whole
    assert read(server, "docs/in.md").body["content"] == "# Plan\n"  # a link within the repository


@pytest.mark.parametrize("path", ["../secret.md", "docs/../../secret.md", "docs/out.md", "/etc/passwd"])
def test_no_path_leads_out_of_the_repository(server, path):
    answer = read(server, path)
    assert answer.status == 403 and "secret\n" not in str(answer.body)


@pytest.mark.parametrize("path, status", [("docs/none.md", 404), ("bytes.md", 422), ("large.md", 413), ("a\0b", 422), ("", 422)])
def test_what_is_no_text_file_is_refused(server, path, status):
    assert read(server, path).status == status


def test_files_are_listed_by_a_pattern(server, folder):
    page = server.get("/api/files/list?directory=docs").body
    assert [(file["name"], file["relative_path"], file["size_bytes"]) for file in page["files"]] == [("plan.md", "docs/plan.md", 7)]
    assert page["directory"] == "docs" and not page["truncated"]
    assert [file["name"] for file in server.get("/api/files/list?directory=docs&glob_pattern=*").body["files"]] == ["note.txt", "plan.md"]
    absolute = urllib.parse.quote(str(folder / "docs"))
    assert [file["name"] for file in server.get(f"/api/files/list?directory={absolute}").body["files"]] == ["plan.md"]
    assert server.get("/api/files/list?directory=..").status == 403
    assert server.get("/api/files/list?directory=none").status == 404


def test_a_profile_must_be_there(home):
    server = home.serve()
    assert read(server, "x").status == 422 and "no profile is active" in read(server, "x").body["detail"]


def test_paths_are_checked_for_new_profiles(server, folder, tmp_path):
    def check(path):
        return server.request("POST", "/api/paths/validate", {"path": str(path)}).body
    assert [check(folder)[key] for key in ("exists", "is_folder", "is_git_repo", "branch")] == [True, True, False, None]
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/feature/x\n")
    assert (check(folder)["is_git_repo"], check(folder)["branch"]) == (True, "feature/x")
    (folder / ".git" / "HEAD").write_text("0123456789012345678901234567890123456789\n")
    assert (check(folder)["is_git_repo"], check(folder)["branch"]) == (True, None)
    assert not check(tmp_path / "none")["exists"] and check(tmp_path / "secret.md")["message"] == "it is not a folder"
    assert server.request("POST", "/api/paths/validate", {"path": os.path.relpath(folder)}).status == 422
