"""GitHub, GitLab and Jira on loopback, as far as Baton uses them, with state and faults on demand.

    with FakeTracker() as tracker:
        tracker.issues["acme/site", 7] = {"title": "…", "body": "…"}      # GitHub and GitLab
        tracker.issues["ABC-7"] = {"title": "…", "body": {…ADF…}}          # Jira
        tracker.fault(status=429, headers={"Retry-After": "1"})            # the next request fails

A fault has: status, headers, body (a text), hang (nothing is sent until the end), lose (the request is done, then the connection
breaks), when (a function of the method and the path: other requests pass).  `tracker.requests` has what arrived: method, path,
headers, body.  tests/trackers checks with other programs that answers and state are what clients of GitHub and Jira expect.
"""
import base64
import http.server
import json
import re
import socket
import threading
import urllib.parse

TOKEN = "tok-0123456789abcdef"
EMAIL = "ada@example.com"
PAGE = 100


def plain(text):
    """A text as a document of Jira."""
    return {"type": "doc", "version": 1, "content": [{"type": "paragraph", "content": [{"type": "text", "text": text}]}]}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=None, headers=None, text=None, type="application/json"):
        data = (text if text is not None else json.dumps(body)).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if "Content-Type" not in (headers or {}):
            self.send_header("Content-Type", type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def handle_one(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = json.loads(body) if body else None
        tracker = self.server.tracker
        with tracker.lock:
            tracker.requests.append((self.command, self.path, dict(self.headers), body))
            faults = [fault for fault in tracker.faults if fault.get("when", lambda *_: True)(self.command, self.path)]
            if faults:
                tracker.faults.remove(faults[0])
        tracker.arrived.set()
        if faults and not faults[0].get("lose"):
            return self.fail(faults[0])
        path, _, query = self.path.partition("?")
        with tracker.lock:
            found = tracker.serve(self.command, path, dict(urllib.parse.parse_qsl(query)), self.headers, body)
        if faults:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return None
        return self.answer(*found)

    def fail(self, fault):
        if fault.get("hang"):
            self.server.tracker.released.wait()
            self.close_connection = True
            return
        text = fault.get("body", json.dumps({"message": "as ordered"}))
        self.answer(fault.get("status", 500), headers=fault.get("headers"), text=text, type=fault.get("type", "application/json"))

    do_GET = do_POST = do_PUT = handle_one


class FakeTracker:
    def __init__(self):
        self.issues, self.comments, self.pulls = {}, {}, {}
        self.reviews, self.review_comments, self.checks = {}, {}, {}
        self.requests, self.faults = [], []
        self.lock, self.released, self.arrived = threading.Lock(), threading.Event(), threading.Event()

    def __enter__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.tracker = self
        self.port = self.server.server_address[1]
        self.base = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()

    def fault(self, **fault):
        self.faults.append(fault)

    def bodies(self, issue):
        """The texts of the comments of an issue."""
        return [comment["body"] for comment in self.comments.get(issue, [])]

    # ---- requests ----------------------------------------------------------------------------

    def serve(self, method, path, query, headers, body):
        # A project's slash is escaped in GitLab's paths only, so the parts are split before they are decoded.
        parts = [urllib.parse.unquote(part) for part in path.strip("/").split("/")]
        if parts[:2] == ["api", "v4"]:
            good = headers.get("PRIVATE-TOKEN") in (TOKEN, None)
            return self.gitlab(method, parts[2:], query, body) if good else (401, {"message": "401 Unauthorized"})
        if parts[:2] == ["rest", "api"]:
            pair = base64.b64encode(f"{EMAIL}:{TOKEN}".encode()).decode()
            good = headers.get("Authorization") in (f"Basic {pair}", f"Bearer {TOKEN}")
            return self.jira(method, parts[2], parts[3:], query, body) if good else (401, {"errorMessages": ["Client must be authenticated"]})
        good = headers.get("Authorization") in (f"Bearer {TOKEN}", None)
        return self.github(method, parts, query, body) if good else (401, {"message": "Bad credentials"})

    def page(self, items, query):
        number, size = int(query.get("page", 1)), int(query.get("per_page", 30))
        headers = {"Link": f'<{self.base}/next>; rel="next"'} if len(items) > number * size else {}
        return 200, items[(number - 1) * size:number * size], headers

    def comment(self, issue, text, **more):
        found = {"id": 1000 + sum(len(list) for list in self.comments.values()), "body": text, **more}
        self.comments.setdefault(issue, []).append(found)
        return found

    # ---- GitHub ------------------------------------------------------------------------------

    def github_issue(self, project, number):
        issue = self.issues[project, number]
        return {"number": number, "title": issue["title"], "body": issue.get("body"), "state": issue.get("state", "open"),
                "html_url": f"https://github.com/{project}/issues/{number}", "labels": [{"name": name} for name in issue.get("labels", [])],
                **({"pull_request": {}} if issue.get("pull") else {})}

    def github(self, method, parts, query, body):
        if parts[:2] == ["search", "issues"]:
            words, project = re.match(r"(.*) repo:(\S+) is:issue is:open$", query["q"]).groups()
            items = [self.github_issue(*key) for key in self.issues if key[0] == project and words in self.issues[key]["title"]]
            return 200, {"total_count": len(items), "items": items}
        if parts[0] != "repos" or len(parts) < 3:
            return 404, {"message": "Not Found"}
        project, rest = "/".join(parts[1:3]), parts[3:]
        if not rest:
            return 200, {"full_name": project, "default_branch": "main"}
        if rest == ["issues"]:
            keys = sorted((key for key in self.issues if key[0] == project), key=lambda key: -key[1])
            return self.page([self.github_issue(*key) for key in keys if self.issues[key].get("state", "open") == "open"], query)
        if rest[0] == "issues":
            key = (project, int(rest[1]))
            if key not in self.issues:
                return 404, {"message": "Not Found", "documentation_url": "https://docs.github.com/rest"}
            if rest[2:] == []:
                return 200, self.github_issue(*key)
            if method == "POST":
                return 201, self.comment(key, body["body"], html_url=f"https://github.com/{project}/issues/{key[1]}#issuecomment")
            return self.page(self.comments.get(key, []), query)
        if rest == ["pulls"]:
            return self.github_pulls(method, project, query, body)
        if rest[0] == "pulls":
            number = int(rest[1])
            pull = next((pull for pull in self.pulls.get(project, []) if pull["number"] == number), None)
            if pull is None:
                return 404, {"message": "Not Found"}
            lists = {"reviews": self.reviews, "comments": self.review_comments}
            return self.page(lists[rest[2]].get((project, number), []), query) if rest[2:] else (200, pull)
        if rest[0] == "commits":
            checks = self.checks.get(rest[1], {})
            return (200, {"check_runs": checks.get("runs", [])}) if rest[2] == "check-runs" else (200, {"statuses": checks.get("statuses", [])})
        return 404, {"message": "Not Found"}

    def github_pulls(self, method, project, query, body):
        pulls = self.pulls.setdefault(project, [])
        if method == "GET":
            head = query.get("head", "").partition(":")[2]
            return self.page([pull for pull in pulls if pull["state"] == "open" and pull["head"]["ref"] == head], query)
        if any(pull["head"]["ref"] == body["head"] and pull["state"] == "open" for pull in pulls):
            return 422, {"message": "Validation Failed", "errors": [{"message": f"A pull request already exists for acme:{body['head']}."}]}
        if body["head"] == "missing":
            return 422, {"message": "Validation Failed", "errors": [{"resource": "PullRequest", "field": "head", "code": "invalid"}]}
        pull = {"number": len(pulls) + 1, "title": body["title"], "body": body["body"], "state": "open", "draft": body.get("draft", False),
                "head": {"ref": body["head"], "sha": f"sha{len(pulls) + 1}"}, "base": {"ref": body["base"]}, "merged_at": None,
                "html_url": f"https://github.com/{project}/pull/{len(pulls) + 1}"}
        pulls.append(pull)
        return 201, pull

    # ---- GitLab ------------------------------------------------------------------------------

    def gitlab_issue(self, project, number):
        issue = self.issues[project, number]
        return {"iid": number, "title": issue["title"], "description": issue.get("body"), "state": issue.get("state", "opened"),
                "web_url": f"{self.base}/{project}/-/issues/{number}", "labels": issue.get("labels", [])}

    def gitlab(self, method, parts, query, body):
        if parts[0] != "projects" or len(parts) < 2:
            return 404, {"error": "404 Not Found"}
        project, rest = parts[1], parts[2:]
        if not rest:
            return 200, {"path_with_namespace": project, "default_branch": "main"}
        if rest == ["issues"]:
            keys = sorted((key for key in self.issues if key[0] == project), key=lambda key: -key[1])
            return self.page([self.gitlab_issue(*key) for key in keys if query.get("search", "") in self.issues[key]["title"]], query)
        if rest[0] == "issues":
            key = (project, int(rest[1]))
            if key not in self.issues:
                return 404, {"message": "404 Not found"}
            if rest[2:] == []:
                return 200, self.gitlab_issue(*key)
            if method == "POST":
                return 201, self.comment(key, body["body"])
            return self.page(self.comments.get(key, [])[::-1], query)
        if rest[0] == "merge_requests":
            return self.gitlab_merges(method, project, rest[1:], query, body)
        if rest[0] == "pipelines":
            return self.page(self.checks.get(int(rest[1]), []), query)
        return 404, {"error": "404 Not Found"}

    def gitlab_merges(self, method, project, rest, query, body):
        merges = self.pulls.setdefault(project, [])
        if rest:
            merge = next((merge for merge in merges if merge["iid"] == int(rest[0])), None)
            if merge is None:
                return 404, {"message": "404 Not found"}
            if rest[1:] == ["approvals"]:
                return 200, {"approved_by": [{"user": {"username": name}} for name in self.reviews.get((project, merge["iid"]), [])]}
            return self.page(self.review_comments.get((project, merge["iid"]), []), query) if rest[1:] else (200, merge)
        if method == "GET":
            return self.page([merge for merge in merges if merge["state"] == "opened" and merge["source_branch"] == query["source_branch"]], query)
        if any(merge["source_branch"] == body["source_branch"] and merge["state"] == "opened" for merge in merges):
            return 409, {"message": ["Another open merge request already exists for this source branch: !1"]}
        merge = {"iid": len(merges) + 1, "title": body["title"], "description": body["description"], "state": "opened",
                 "draft": body["title"].startswith("Draft:"), "source_branch": body["source_branch"], "target_branch": body["target_branch"],
                 "web_url": f"{self.base}/{project}/-/merge_requests/{len(merges) + 1}", "head_pipeline": {"id": 900 + len(merges)}}
        merges.append(merge)
        return 201, merge

    # ---- Jira --------------------------------------------------------------------------------

    def jira_issue(self, key, version):
        issue = self.issues[key]
        text = issue.get("body", "")
        if version == "3" and isinstance(text, str):
            text = plain(text)
        return {"id": "1" + key.rpartition("-")[2], "key": key, "self": f"{self.base}/rest/api/{version}/issue/{key}",
                "fields": {"summary": issue["title"], "description": text, "labels": issue.get("labels", []),
                           "status": {"name": issue.get("state", "To Do"), "id": "1", "statusCategory": {"key": "new", "name": "To Do"}}}}

    def jira(self, method, version, rest, query, body):
        if rest[0] == "search" and (rest[1:] == ["jql"]) == (version == "3"):
            words = re.search(r'text ~ "(.*?)"', query["jql"])
            project = re.search(r'project = "(.*?)"', query["jql"])
            keys = [key for key in self.issues if isinstance(key, str) and (not words or words[1] in self.issues[key]["title"])
                    and (not project or key.startswith(project[1] + "-"))]
            issues = [self.jira_issue(key, version) for key in keys][:int(query["maxResults"])]
            return 200, {"issues": issues, "isLast": True} if version == "3" else {"issues": issues, "total": len(issues), "startAt": 0, "maxResults": 50}
        if rest[0] != "issue" or len(rest) < 2:
            return 404, {"errorMessages": ["dead link"]}
        key = rest[1]
        if key not in self.issues:
            return 404, {"errorMessages": ["Issue does not exist or you do not have permission to see it."], "errors": {}}
        if rest[2:] == []:
            return 200, self.jira_issue(key, version)
        if method == "POST":
            if (version == "3") != isinstance(body["body"], dict):
                return 400, {"errorMessages": [], "errors": {"comment": "Comment body is not valid!"}}
            found = self.comment(key, body["body"], properties=body.get("properties", []))
            return 201, {**found, "id": str(found["id"]), "self": f"{self.base}/rest/api/{version}/issue/{key}/comment/{found['id']}"}
        start, most = int(query.get("startAt", 0)), int(query.get("maxResults", 50))
        found = [{**comment, "id": str(comment["id"])} for comment in self.comments.get(key, [])[::-1]]
        if "properties" not in query.get("expand", ""):
            found = [{name: value for name, value in comment.items() if name != "properties"} for comment in found]
        return 200, {"comments": found[start:start + most], "startAt": start, "maxResults": most, "total": len(found)}
