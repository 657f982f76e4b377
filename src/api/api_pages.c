/* api/api_pages.c -- the dashboard's files, packed into the program. */
#include "api/inside.h"
#include "base/packed.h"

static struct str content_type(struct str name)
{
	if (str_ends(name, S(".html")))
		return S("text/html; charset=utf-8");
	if (str_ends(name, S(".css")))
		return S("text/css; charset=utf-8");
	if (str_ends(name, S(".js")))
		return S("text/javascript; charset=utf-8");
	return S("application/octet-stream");
}

void api_root_page(struct api_call *call)
{
	const struct http_header headers[] = { { S("Location"), S("/ui/") } };
	api_reply(call->api, call->exchange, 303, headers, COUNT(headers), S(""));
}

void api_ui_page(struct api_call *call)
{
	struct str named = api_name(call, S("file"));
	struct str name = named.size == 0 ? S("index.html") : named;
	for (const struct packed_file *file = packed_web; file->name != NULL; file++) {
		if (!str_equal(str_from_c(file->name), name))
			continue;
		const struct http_header headers[] = {
			{ S("Content-Type"), content_type(name) },
			{ S("Cache-Control"), S("no-cache") },
			{ S("Content-Security-Policy"),
			  S("default-src 'none'; script-src 'self'; style-src 'self'; "
			    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
			    "form-action 'none'; frame-ancestors 'none'") },
		};
		api_reply(call->api, call->exchange, 200, headers, COUNT(headers),
			  (struct str){ (const char *)file->bytes, file->size });
		return;
	}
	struct error error;
	fail(&error, ERROR_NOT_FOUND, "the dashboard has no file " STR_FMT,
	     STR_ARG(str_head(name, 100)));
	api_reply_error(call->api, call->exchange, &error, NULL);
}
