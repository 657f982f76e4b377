/* schema/uri.c -- URIs of schemas and JSON pointers: the parts of RFC 3986 and RFC 6901 in use. */
#include "schema/schema_internal.h"

#include <string.h>

void uri_split(struct str uri, struct str *out_document, struct str *out_fragment)
{
	size_t at;
	bool found = str_find(uri, S("#"), &at);
	*out_document = found ? str_head(uri, at) : uri;
	*out_fragment = found ? str_skip(uri, at + 1) : S("");
}

/* The length of `scheme:` at the beginning; 0 = none. */
static size_t scheme_size(struct str uri)
{
	for (size_t i = 0; i < uri.size; i++) {
		char c = uri.at[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
		bool more = i > 0 && ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.');
		if (c == ':' && i > 0)
			return i + 1;
		if (!letter && !more)
			return 0;
	}
	return 0;
}

/* The offset of the path, after scheme and authority. */
static size_t path_begin(struct str uri)
{
	size_t at = scheme_size(uri);
	if (!str_starts(str_skip(uri, at), S("//")))
		return at;
	at += 2;
	while (at < uri.size && uri.at[at] != '/' && uri.at[at] != '?')
		at++;
	return at;
}

/* Removes `.` and `..` from a path; `..` does not lead out of it. */
static struct str clean_path(struct str path, struct arena *arena)
{
	char *out = arena_take_text(arena, path.size + 2);
	size_t size = 0, floor = 0;
	struct str rest = path, segment;
	if (str_starts(path, S("/"))) {
		out[0] = '/';
		size = floor = 1;
		rest = str_skip(path, 1);
	}
	while (str_cut(&rest, '/', &segment)) {
		if (str_equal(segment, S(".")))
			continue;
		if (str_equal(segment, S(".."))) {
			size -= size > floor;
			while (size > floor && out[size - 1] != '/')
				size--;
			continue;
		}
		if (segment.size > 0)
			memcpy(out + size, segment.at, segment.size);
		size += segment.size;
		if (rest.at != NULL)
			out[size++] = '/';
	}
	return (struct str){ out, size };
}

struct str uri_join(struct str base, struct str ref, struct arena *arena)
{
	struct str document, fragment;
	if (scheme_size(ref) > 0)
		return ref;
	uri_split(base, &document, &fragment);
	if (ref.size == 0 || ref.at[0] == '#')
		return str_format(arena, STR_FMT STR_FMT, STR_ARG(document), STR_ARG(ref));
	size_t begin = path_begin(document);
	if (str_starts(ref, S("//")))
		return str_format(arena, STR_FMT STR_FMT,
				  STR_ARG(str_head(document, scheme_size(document))), STR_ARG(ref));
	size_t cut = str_starts(ref, S("/")) ? begin : document.size;
	while (cut > begin && document.at[cut - 1] != '/')
		cut--;
	struct str ref_path, ref_fragment;
	uri_split(ref, &ref_path, &ref_fragment);
	struct str joined =
		str_format(arena, STR_FMT STR_FMT,
			   STR_ARG(str_skip(str_head(document, cut), begin)), STR_ARG(ref_path));
	struct str path = clean_path(joined, arena);
	const char *slash =
		begin > 0 && path.size > 0 && path.at[0] != '/' && scheme_size(document) < begin
			? "/"
			: "";
	return str_format(arena, STR_FMT "%s" STR_FMT "%s" STR_FMT,
			  STR_ARG(str_head(document, begin)), slash, STR_ARG(path),
			  ref_fragment.size > 0 ? "#" : "", STR_ARG(ref_fragment));
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Unescapes one segment of a pointer. */
static struct str pointer_key(struct str raw, struct arena *arena)
{
	char *out = arena_take_text(arena, raw.size + 1);
	size_t size = 0;
	for (size_t i = 0; i < raw.size; i++) {
		char c = raw.at[i];
		if (c == '%' && i + 2 < raw.size && hex(raw.at[i + 1]) >= 0 &&
		    hex(raw.at[i + 2]) >= 0) {
			c = (char)(hex(raw.at[i + 1]) * 16 + hex(raw.at[i + 2]));
			i += 2;
		} else if (c == '~' && i + 1 < raw.size &&
			   (raw.at[i + 1] == '0' || raw.at[i + 1] == '1')) {
			c = raw.at[++i] == '0' ? '~' : '/';
		}
		out[size++] = c;
	}
	return (struct str){ out, size };
}

const struct json *uri_follow_pointer(const struct json *root, struct str fragment,
				      struct arena *arena)
{
	const struct json *at = root;
	struct str rest = fragment, raw;
	if (fragment.size == 0)
		return root;
	if (fragment.at[0] != '/')
		return NULL;
	str_cut(&rest, '/', &raw);
	while (at != NULL && str_cut(&rest, '/', &raw)) {
		struct str key = pointer_key(raw, arena);
		int64_t index;
		if (at->kind == JSON_LIST && str_to_int(key, &index) && index >= 0)
			at = json_item(at, (size_t)index);
		else
			at = at->kind == JSON_OBJECT ? json_member(at, key) : NULL;
	}
	return at;
}
