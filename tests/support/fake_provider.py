"""A provider of models on loopback that speaks the three wire formats and misbehaves on demand.

    with FakeProvider() as provider:
        provider.then(text="hello")                      # the next reply
        provider.then(status=429, headers={"Retry-After": "3"})
        provider.always(text="anything else")

A reply is made of: text, thinking, calls [(id, name, arguments)], stop, usage; sent as a stream if the request asks for one.
What can go wrong: status and body of a refusal, headers, type (content type), raw (these bytes instead), cut (after so many
bytes of the body, the connection breaks), hang (nothing is sent until release()), stall (nothing more behind so many bytes until release()), drip (one byte a time), endless (pings until
the client leaves), echo (the request's key is quoted).  `provider.requests` has what arrived: path, headers, body.

tests/models checks with the providers' own clients that what it sends is what they expect.
"""
import http.server
import json
import socket
import threading

FORMATS = {"/chat/completions": "chat", "/responses": "responses", "/messages": "messages"}
USAGE = {"input": 20, "output": 7, "cached": 12, "created": 3}


# ---- replies ---------------------------------------------------------------------------------


def pieces(text):
    """Two pieces, if there is enough for two."""
    half = len(text) // 2
    return [part for part in (text[:half], text[half:]) if part]


def chat_usage(usage):
    return {"prompt_tokens": usage["input"], "completion_tokens": usage["output"], "total_tokens": usage["input"] + usage["output"],
            "prompt_tokens_details": {"cached_tokens": usage["cached"]}}


def chat_calls(calls):
    return [{"index": n, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for n, (id, name, arguments) in enumerate(calls)]


def chat_stop(reply):
    return reply.get("stop") or ("tool_calls" if reply.get("calls") else "stop")


def chat_body(reply, model):
    message = {"role": "assistant", "content": reply.get("text"), "refusal": None}
    if reply.get("thinking"):
        message["reasoning_content"] = reply["thinking"]
    if reply.get("calls"):
        message["tool_calls"] = [{key: value for key, value in call.items() if key != "index"} for call in chat_calls(reply["calls"])]
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model,
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": chat_stop(reply)}],
            "usage": chat_usage(reply.get("usage", USAGE))}


def chat_events(reply, model):
    def chunk(delta, stop=None):
        return None, {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model,
                      "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": stop}]}
    yield chunk({"role": "assistant", "content": ""})
    for part in pieces(reply.get("thinking", "")):
        yield chunk({"reasoning_content": part})
    for part in pieces(reply.get("text", "")):
        yield chunk({"content": part})
    for call in chat_calls(reply.get("calls", [])):
        arguments = call["function"]["arguments"]
        call["function"]["arguments"] = ""
        yield chunk({"tool_calls": [call]})
        for part in pieces(arguments):
            yield chunk({"tool_calls": [{"index": call["index"], "function": {"arguments": part}}]})
    yield chunk({}, chat_stop(reply))
    yield None, {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [],
                 "usage": chat_usage(reply.get("usage", USAGE))}
    yield None, "[DONE]"


def message_usage(usage):
    return {"input_tokens": usage["input"] - usage["cached"] - usage["created"], "cache_read_input_tokens": usage["cached"],
            "cache_creation_input_tokens": usage["created"], "output_tokens": usage["output"]}


def message_stop(reply):
    return reply.get("stop") or ("tool_use" if reply.get("calls") else "end_turn")


def message_blocks(reply):
    blocks = []
    if reply.get("thinking"):
        blocks.append({"type": "thinking", "thinking": reply["thinking"], "signature": "SIGNED"})
    if reply.get("text"):
        blocks.append({"type": "text", "text": reply["text"]})
    for id, name, arguments in reply.get("calls", []):
        blocks.append({"type": "tool_use", "id": id, "name": name, "input": json.loads(arguments)})
    return blocks


def message_body(reply, model):
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": message_blocks(reply),
            "stop_reason": message_stop(reply), "stop_sequence": None, "usage": message_usage(reply.get("usage", USAGE))}


def message_events(reply, model):
    usage = message_usage(reply.get("usage", USAGE))
    body = message_body(reply, model)
    yield "message_start", {"type": "message_start", "message": {**body, "content": [], "stop_reason": None,
                                                                 "usage": {**usage, "output_tokens": 1}}}
    for index, block in enumerate(body["content"]):
        empty = {"thinking": {"type": "thinking", "thinking": "", "signature": ""}, "text": {"type": "text", "text": ""},
                 "tool_use": {**block, "input": {}}}[block["type"]]
        yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": empty}
        yield "ping", {"type": "ping"}
        deltas = {"thinking": lambda: [{"type": "thinking_delta", "thinking": part} for part in pieces(block["thinking"])]
                  + [{"type": "signature_delta", "signature": block["signature"]}],
                  "text": lambda: [{"type": "text_delta", "text": part} for part in pieces(block["text"])],
                  "tool_use": lambda: [{"type": "input_json_delta", "partial_json": part}
                                       for part in pieces(json.dumps(block["input"]))]}[block["type"]]()
        for delta in deltas:
            yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    yield "message_delta", {"type": "message_delta", "delta": {"stop_reason": body["stop_reason"], "stop_sequence": None},
                            "usage": {"output_tokens": usage["output_tokens"]}}
    yield "message_stop", {"type": "message_stop"}


def response_items(reply):
    items = []
    if reply.get("thinking"):
        items.append({"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": reply["thinking"]}],
                      "encrypted_content": "SEALED"})
    if reply.get("text"):
        items.append({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
                      "content": [{"type": "output_text", "text": reply["text"], "annotations": []}]})
    for n, (id, name, arguments) in enumerate(reply.get("calls", [])):
        items.append({"id": f"fc_{n}", "type": "function_call", "status": "completed", "call_id": id, "name": name, "arguments": arguments})
    return items


def response_body(reply, model):
    usage = reply.get("usage", USAGE)
    body = {"id": "resp_1", "object": "response", "created_at": 1, "model": model, "status": "completed", "error": None,
            "incomplete_details": None, "instructions": None, "metadata": {}, "parallel_tool_calls": True, "temperature": 1,
            "tool_choice": "auto", "tools": [], "top_p": 1, "output": response_items(reply),
            "usage": {"input_tokens": usage["input"], "input_tokens_details": {"cached_tokens": usage["cached"]},
                      "output_tokens": usage["output"], "output_tokens_details": {"reasoning_tokens": 0},
                      "total_tokens": usage["input"] + usage["output"]}}
    if reply.get("stop"):
        body.update(status="incomplete", incomplete_details={"reason": reply["stop"]})
    return body


def response_events(reply, model):
    body = response_body(reply, model)
    number = iter(range(100000))

    def event(type, **more):
        return type, {"type": type, "sequence_number": next(number), **more}
    yield event("response.created", response={**body, "status": "in_progress", "output": [], "usage": None})
    for index, item in enumerate(body["output"]):
        at = {"item_id": item["id"], "output_index": index}
        if item["type"] == "reasoning":
            yield event("response.output_item.added", output_index=index, item={**item, "summary": []})
            part = {"type": "summary_text", "text": ""}
            yield event("response.reasoning_summary_part.added", summary_index=0, part=part, **at)
            for text in pieces(item["summary"][0]["text"]):
                yield event("response.reasoning_summary_text.delta", summary_index=0, delta=text, **at)
            yield event("response.reasoning_summary_text.done", summary_index=0, text=item["summary"][0]["text"], **at)
        elif item["type"] == "message":
            whole = item["content"][0]
            yield event("response.output_item.added", output_index=index, item={**item, "status": "in_progress", "content": []})
            yield event("response.content_part.added", content_index=0, part={**whole, "text": ""}, **at)
            for text in pieces(whole["text"]):
                yield event("response.output_text.delta", content_index=0, delta=text, logprobs=[], **at)
            yield event("response.output_text.done", content_index=0, text=whole["text"], logprobs=[], **at)
            yield event("response.content_part.done", content_index=0, part=whole, **at)
        else:
            yield event("response.output_item.added", output_index=index, item={**item, "status": "in_progress", "arguments": ""})
            for text in pieces(item["arguments"]):
                yield event("response.function_call_arguments.delta", delta=text, **at)
            yield event("response.function_call_arguments.done", arguments=item["arguments"], name=item["name"], **at)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed" if body["status"] == "completed" else "response.incomplete", response=body)


BODIES = {"chat": chat_body, "messages": message_body, "responses": response_body}
EVENTS = {"chat": chat_events, "messages": message_events, "responses": response_events}


def stream_of(format, reply, model="m"):
    lines = []
    for type, data in EVENTS[format](reply, model):
        if type:
            lines.append(f"event: {type}\n")
        lines.append(f"data: {data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)}\n\n")
    return "".join(lines).encode()


def body_of(format, reply, model="m"):
    return json.dumps(BODIES[format](reply, model), ensure_ascii=False).encode()


# ---- the server ------------------------------------------------------------------------------


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def setup(self):
        super().setup()
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.server.provider.lock:
            self.server.provider.connections += 1

    def send(self, status, type, body, reply):
        self.send_response(status)
        if type is not None:
            self.send_header("Content-Type", type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in reply.get("headers", {}).items():
            self.send_header(name, value)
        self.end_headers()
        if "cut" in reply:
            self.wfile.write(body[:reply["cut"]])
            self.wfile.flush()
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif "stall" in reply:
            self.wfile.write(body[:reply["stall"]])
            self.wfile.flush()
            self.server.provider.hanging.release()
            self.server.provider.released.wait()
            self.wfile.write(body[reply["stall"]:])
        elif reply.get("drip"):
            for n in range(len(body)):
                self.wfile.write(body[n:n + 1])
                self.wfile.flush()
        else:
            self.wfile.write(body)

    def endless(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        ping = b": " + b"ping " * 20000 + b"\n\n"
        while True:
            self.wfile.write(ping)

    def do_POST(self):
        provider = self.server.provider
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.loads(raw)
        format = next((format for path, format in FORMATS.items() if self.path.endswith(path)), None)
        reply = provider.next_reply({"path": self.path, "headers": dict(self.headers.items()), "body": body, "format": format})
        try:
            self.answer(format, body, reply)
        except OSError:
            self.close_connection = True

    def answer(self, format, body, reply):
        provider = self.server.provider
        if reply.get("hang"):
            provider.hanging.release()
            provider.released.wait()
        if reply.get("endless"):
            self.endless()
        if "raw" in reply:
            self.send(reply.get("status", 200), reply.get("type", "application/json"), reply["raw"], reply)
        elif reply.get("status", 200) != 200:
            fault = {"error": {"type": reply.get("fault", "error"), "message": reply.get("message", "so it is")}}
            if reply.get("echo"):
                fault["error"]["message"] += " key " + (self.headers.get("x-api-key") or self.headers.get("Authorization") or "")
            self.send(reply["status"], "application/json", json.dumps(fault).encode(), reply)
        elif body.get("stream"):
            self.send(200, reply.get("type", "text/event-stream"), stream_of(format, reply, body["model"]), reply)
        else:
            self.send(200, reply.get("type", "application/json"), body_of(format, reply, body["model"]), reply)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024


class FakeProvider:
    def __init__(self):
        self.lock = threading.Lock()
        self.requests, self.queue = [], []
        self.connections = 0
        self.usual = {"text": "fine"}
        self.hanging = threading.Semaphore(0)  # a request hangs
        self.released = threading.Event()
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.provider = self
        self.base = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def then(self, **reply):
        with self.lock:
            self.queue.append(reply)

    def always(self, **reply):
        with self.lock:
            self.usual = reply

    def release(self):
        self.released.set()

    def next_reply(self, request):
        with self.lock:
            self.requests.append(request)
            return self.queue.pop(0) if self.queue else self.usual


if __name__ == "__main__":
    import sys
    with FakeProvider() as fake:
        print(fake.base, flush=True)
        for line in sys.stdin:  # one reply as JSON in each line
            fake.then(**json.loads(line))
            print("ok", flush=True)
