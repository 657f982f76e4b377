/* api/api_docs.c -- the interface describes itself: as OpenAPI, and as a page for people.
 *
 * Both are large and printed once, so the first request would hold up the loop: every one goes to a
 * reader thread, where it waits for the first.
 */
#include <stdlib.h>

#include "active/executor_jobs.h"
#include "api/api_internal.h"
#include "contract/describe.h"

struct document_read {
	struct executor_read read;
	struct api *api;
	uint64_t exchange;
	struct str (*kept)(void);
	const struct http_header *headers;
	size_t header_count;
	struct str text;
};

static void document_work(struct executor_read *read, struct store_reader *reader)
{
	struct document_read *r = (struct document_read *)read;
	(void)reader;
	r->text = r->kept();
}

static void document_done(struct executor_read *read)
{
	struct document_read *r = (struct document_read *)read;
	api_reply(r->api, r->exchange, 200, r->headers, r->header_count, r->text);
	arena_done(&read->arena);
	free(r);
}

static void send_document(struct api_call *call, struct str (*kept)(void),
			  const struct http_header *headers, size_t count)
{
	struct document_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	r->api = call->api;
	r->exchange = call->exchange;
	r->kept = kept;
	r->headers = headers;
	r->header_count = count;
	r->read.work = document_work;
	r->read.done = document_done;
	executor_read(call->api->settings.executor, &r->read);
}

#define HEADER(name_, value_)                      \
	{                                          \
		{ name_, sizeof(name_) - 1 },      \
		{                                  \
			value_, sizeof(value_) - 1 \
		}                                  \
	}

void api_openapi(struct api_call *call)
{
	static const struct http_header headers[] = { HEADER("Content-Type", "application/json") };
	send_document(call, describe_openapi_kept, headers, COUNT(headers));
}

void api_docs_page(struct api_call *call)
{
	static const struct http_header headers[] = {
		HEADER("Content-Type", "text/html; charset=utf-8"),
		HEADER("Cache-Control", "no-cache"),
		HEADER("Content-Security-Policy",
		       "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "
		       "frame-ancestors 'none'"),
	};
	send_document(call, describe_html_kept, headers, COUNT(headers));
}

void api_docs_style(struct api_call *call)
{
	static const struct http_header headers[] = {
		HEADER("Content-Type", "text/css; charset=utf-8"),
		HEADER("Cache-Control", "no-cache"),
	};
	api_reply(call->api, call->exchange, 200, headers, COUNT(headers),
		  S("body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;"
		    "padding:0 1rem;color:#1b1f24;background:#fff}"
		    "code,pre{font:13px ui-monospace,monospace}"
		    "pre{overflow:auto;background:#f4f5f7;padding:.7rem}"
		    "table{border-collapse:collapse;margin:.5rem 0}"
		    "th,td{border:1px solid #d5d9de;padding:.2rem .5rem;text-align:left;"
		    "vertical-align:top}"
		    "h2{margin-top:2.5rem;border-bottom:1px solid #d5d9de}"
		    "h3:target,h4:target{background:#fff3bf}"
		    "nav ul{display:flex;flex-wrap:wrap;gap:1rem;list-style:none;padding:0}"
		    "a{color:#0b57d0}"
		    "@media (prefers-color-scheme:dark){body{color:#e3e6ea;background:#15181c}"
		    "pre{background:#1f242a}th,td,h2{border-color:#3a4149}a{color:#8ab4f8}"
		    "h3:target,h4:target{background:#4a3f00}}"));
}
