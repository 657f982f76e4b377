/* api/api_static.c -- the dashboard's files, which are embedded in the program.
 *
 * A file name contains a hash of the content, so a client may cache the file forever.  Only
 * index.html has a fixed name; clients revalidate it and get 304 when it is unchanged.  A path that
 * names no file is a page of the dashboard and gets index.html, whose script reads the address.  A
 * path that looks like a file but does not exist is 404: a script of an older version must not be
 * answered with HTML.
 */
#include "api/api_internal.h"
#include "base/packed.h"

/* The content security policy of the pages: no other origin, nothing inline, no framing.  Trusted
 * types are required and no policy may create them, so no string can become markup. */
#define POLICY                                                          \
	S("default-src 'none'; script-src 'self'; style-src 'self'; "   \
	  "connect-src 'self'; img-src 'self' data:; base-uri 'none'; " \
	  "form-action 'none'; frame-ancestors 'none'; "                \
	  "require-trusted-types-for 'script'; trusted-types 'none'")

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

static const struct packed_file *find_file(struct str name)
{
	for (const struct packed_file *file = packed_web; file->name != NULL; file++)
		if (str_equal(str_from_c(file->name), name))
			return file;
	return NULL;
}

/* The gzip variant when it exists and the client accepts it. */
static const struct packed_file *find_variant(struct api_call *call, struct str name,
					      bool *out_gzip)
{
	struct str rest = http_header(call->request, S("Accept-Encoding")), word, coding;
	*out_gzip = false;
	while (!*out_gzip && str_cut(&rest, ',', &word)) {
		str_cut(&word, ';', &coding);
		*out_gzip = str_equal_folded(str_trim(coding), S("gzip")) &&
			    !str_equal(str_trim(word), S("q=0"));
	}
	const struct packed_file *gzip =
		find_file(str_format(call->arena, STR_FMT ".gz", STR_ARG(name)));
	*out_gzip = *out_gzip && gzip != NULL;
	return *out_gzip ? gzip : find_file(name);
}

static bool looks_like_a_file(struct str path)
{
	size_t at;
	return str_find(path, S("."), &at) && !str_find(path, S("/"), &at);
}

static bool client_has(const struct api_call *call, struct str tag)
{
	struct str rest = http_header(call->request, S("If-None-Match")), word;
	while (str_cut(&rest, ',', &word))
		if (str_equal(str_trim(word), tag))
			return true;
	return false;
}

static void send_file(struct api_call *call, struct str name)
{
	bool gzip;
	const struct packed_file *file = find_variant(call, name, &gzip);
	struct str bytes = { (const char *)file->bytes, file->size };
	struct hash hash = hash_of(bytes);
	char hex[HASH_TEXT_SIZE];
	struct str tag = str_format(call->arena, "\"" STR_FMT "\"",
				    STR_ARG(str_head(hash_text(&hash, hex), 32)));
	bool keeps_its_name = str_equal(name, S("index.html"));
	const struct http_header headers[] = {
		{ S("Content-Type"), content_type(name) },
		{ S("Cache-Control"),
		  keeps_its_name ? S("no-cache") : S("public, max-age=31536000, immutable") },
		{ S("ETag"), tag },
		{ S("Vary"), S("Accept-Encoding") },
		{ S("Cross-Origin-Opener-Policy"), S("same-origin") },
		{ S("Content-Security-Policy"), POLICY },
		{ S("Content-Encoding"), S("gzip") },
	};
	bool same = client_has(call, tag);
	api_reply(call->api, call->exchange, same ? 304 : 200, headers,
		  COUNT(headers) - (gzip && !same ? 0 : 1), same ? S("") : bytes);
}

void api_root_page(struct api_call *call)
{
	const struct http_header headers[] = { { S("Location"), S("/ui/") } };
	api_reply(call->api, call->exchange, 303, headers, COUNT(headers), S(""));
}

void api_ui_page(struct api_call *call)
{
	if (find_file(call->path) != NULL) {
		send_file(call, call->path);
	} else if (!looks_like_a_file(call->path)) {
		send_file(call, S("index.html"));
	} else {
		struct error error;
		fail(&error, ERROR_NOT_FOUND, "the dashboard has no file " STR_FMT,
		     STR_ARG(str_head(call->path, 100)));
		api_reply_error(call->api, call->exchange, &error, NULL);
	}
}
