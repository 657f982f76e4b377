"""Messages between the agents of a run, as docs/engine.md describes them.  Every inbox is a list of messages."""
import datetime
import hashlib
import uuid

SENT = {"to", "broadcast", "content", "subject", "reply_to", "type"}
READ = {"thread", "limit"}
MESSAGES, AT_ONCE = 1000, 20


def readers(tree):
    """Names of the agents that read messages; those of sub-runs are not among them."""
    if isinstance(tree, list):
        return set().union(*map(readers, tree))
    if not isinstance(tree, dict):
        return set()
    own = tree.get("kind") == "session" and any(node["name"] == "read_messages" for node in tree["body"])
    return ({tree["body"][0]["agent"]["name"]} if own else set()).union(*(readers(value) for key, value in tree.items() if key != "graph"))


def derived(run, *parts):
    parts = [uuid.UUID(run).bytes, *(part.encode() for part in parts)]
    made = bytearray(hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).digest()[:16])
    made[6], made[8] = made[6] & 0x0F | 0x40, made[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(made)))


def time_text(us):
    at = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=us)
    digits = "" if us % 1000000 == 0 else ".%03d" % (us // 1000 % 1000) if us % 1000 == 0 else ".%06d" % (us % 1000000)
    return at.strftime("%Y-%m-%dT%H:%M:%S") + digits + "Z"


class Mailbox:
    def __init__(self, graph, run):
        self.run, self.messages = run, []
        self.inboxes = {name: [] for name in sorted(readers(graph))}

    def call(self, tool, agent, path, now, arguments):
        """The event before the end of the call, its output, and why it fails."""
        return self.send(agent, path, now, arguments) if tool == "send_message" else self.read(agent, arguments)

    def send(self, agent, path, now, arguments):
        content, to, broadcast = arguments.get("content"), arguments.get("to"), arguments.get("broadcast")
        others = [name for name in self.inboxes if name != agent]
        if not set(arguments) <= SENT or not isinstance(content, str) or not content:
            return None, None, "invalid"
        if len(self.messages) >= MESSAGES:
            return None, None, "limit_reached"
        answered = next((one for one in self.messages if one["id"] == arguments.get("reply_to")), None)
        if "reply_to" in arguments and not answered:
            return None, None, "not_found"
        if broadcast and to:
            return None, None, "invalid"
        if answered and not broadcast and not to:
            to = answered["from"]
        if not broadcast and not to:
            return None, None, "invalid"
        if (to not in others) if to else not others:
            return None, None, "not_found"
        made = derived(self.run, path, "message", "1")
        message = {"id": made, "type": arguments.get("type", "response" if answered else "task"), "from": agent,
                   **({} if to else {"broadcast": True}), "thread": answered["thread"] if answered else made,
                   **({"reply_to": answered["id"]} if answered else {}),
                   **({"subject": arguments["subject"]} if "subject" in arguments else {}), "content": content, "sent_at": time_text(now)}
        self.messages.append(message)
        for name in [to] if to else others:
            self.inboxes[name].append(message)
        return "message.sent", {"id": made, "thread": message["thread"], "to": [to] if to else others}, None

    def read(self, agent, arguments):
        limit = arguments.get("limit", AT_ONCE)
        if not set(arguments) <= READ or not 1 <= limit <= AT_ONCE:
            return None, None, "invalid"
        unread = self.inboxes[agent]
        taken = [one for one in unread if arguments.get("thread", one["thread"]) == one["thread"]][:limit]
        self.inboxes[agent] = [one for one in unread if one not in taken]
        return "message.read" if taken else None, {"messages": taken, "unread": len(self.inboxes[agent])}, None
