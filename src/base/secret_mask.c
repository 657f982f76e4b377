/* base/secret_mask.c -- finds every form of a secret in a text.
 *
 * All forms of all secrets are one list; a table of first bytes decides for nearly every position of
 * a text that no form begins there.  Where several forms begin, the longest is replaced, so that
 * nothing of it is left.
 */
#include "base/secret_mask.h"

#include <string.h>

#include "base/base64.h"

enum { FORMS_OF_SECRET = 24, SHORTEST_FORM = 6 };

struct secret_mask {
	struct str *forms;
	size_t count;
	bool begins[256]; /* some form begins with this byte */
};

/* ---- the forms ----------------------------------------------------------------------- */

/* A form of a few characters would be found everywhere. */
static void add_form(struct secret_mask *mask, struct str form)
{
	if (form.size < SHORTEST_FORM)
		return;
	for (size_t i = 0; i < mask->count; i++)
		if (str_equal(mask->forms[i], form))
			return;
	mask->forms[mask->count++] = form;
	mask->begins[(unsigned char)form.at[0]] = true;
}

static struct str replaced(struct str text, char from, char to, struct arena *arena)
{
	char *at = arena_take_text(arena, text.size);
	for (size_t i = 0; i < text.size; i++)
		at[i] = text.at[i] == from ? to : text.at[i];
	return (struct str){ at, text.size };
}

/* `before` unknown bytes stand before the secret: only the characters that do not depend on them and
 * on what follows belong to the form. */
static void add_base64(struct secret_mask *mask, struct str secret, size_t before,
		       struct arena *arena)
{
	char *bytes = arena_take_text(arena, before + secret.size);
	memset(bytes, 0, before);
	memcpy(bytes + before, secret.at, secret.size);
	struct str whole = base64_text(arena, (struct str){ bytes, before + secret.size });
	size_t first = (before * 8 + 5) / 6, end = (before + secret.size) * 8 / 6;
	struct str form = str_head(str_skip(whole, first), end - first);
	add_form(mask, form);
	add_form(mask, replaced(replaced(form, '+', '-', arena), '/', '_', arena));
}

static bool is_unreserved(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_' || c == '~';
}

static void add_digits(struct buf *form, char c, bool upper)
{
	buf_add_format(form, upper ? "%02X" : "%02x", (unsigned)(unsigned char)c);
}

static void add_percent(struct secret_mask *mask, struct str secret, bool upper, bool plus,
			bool slashes, struct arena *arena)
{
	AUTO(buf) form = { 0 };
	for (size_t i = 0; i < secret.size; i++) {
		char c = secret.at[i];
		if (is_unreserved(c) || (c == '/' && slashes) || (c == ' ' && plus)) {
			buf_add_char(&form, c == ' ' ? '+' : c);
			continue;
		}
		buf_add_char(&form, '%');
		add_digits(&form, c, upper);
	}
	add_form(mask, str_copy(arena, buf_str(&form)));
}

static void add_hex(struct secret_mask *mask, struct str secret, bool upper, struct arena *arena)
{
	AUTO(buf) form = { 0 };
	for (size_t i = 0; i < secret.size; i++)
		add_digits(&form, secret.at[i], upper);
	add_form(mask, str_copy(arena, buf_str(&form)));
}

/* The character at the beginning of valid UTF-8. */
static uint32_t decode(struct str text, size_t *out_size)
{
	unsigned char first = (unsigned char)text.at[0];
	size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
	uint32_t character = size == 1 ? first : first & (0xFFu >> (size + 1));
	*out_size = size > text.size ? text.size : size;
	for (size_t i = 1; i < *out_size; i++)
		character = character << 6 | ((unsigned char)text.at[i] & 0x3Fu);
	return character;
}

/* As JSON writes it; with `ascii` the other characters as \uXXXX, as many libraries do. */
static void add_json(struct secret_mask *mask, struct str secret, bool ascii, bool slashes,
		     struct arena *arena)
{
	AUTO(buf) form = { 0 };
	size_t size;
	for (; secret.size > 0; secret = str_skip(secret, size)) {
		uint32_t character = decode(secret, &size);
		if (character == '"' || character == '\\' || (character == '/' && slashes))
			buf_add_format(&form, "\\%c", (int)character);
		else if (character < 0x80 || !ascii)
			buf_add(&form, str_head(secret, size));
		else if (character < 0x10000)
			buf_add_format(&form, "\\u%04x", character);
		else
			buf_add_format(&form, "\\u%04x\\u%04x",
				       0xD800 + ((character - 0x10000) >> 10),
				       0xDC00 + ((character - 0x10000) & 0x3FF));
	}
	add_form(mask, str_copy(arena, buf_str(&form)));
}

static void add_secret(struct secret_mask *mask, struct str secret, struct arena *arena)
{
	if (secret.size == 0)
		return;
	secret = str_copy(arena, secret);
	mask->forms[mask->count++] = secret;
	mask->begins[(unsigned char)secret.at[0]] = true;
	add_json(mask, secret, false, false, arena);
	add_json(mask, secret, true, false, arena);
	add_json(mask, secret, true, true, arena);
	add_percent(mask, secret, true, false, false, arena);
	add_percent(mask, secret, true, false, true, arena);
	add_percent(mask, secret, true, true, false, arena);
	add_percent(mask, secret, false, false, false, arena);
	add_hex(mask, secret, false, arena);
	add_hex(mask, secret, true, arena);
	for (size_t before = 0; before < 3; before++)
		add_base64(mask, secret, before, arena);
}

const struct secret_mask *secret_mask_new(struct str_list secrets, struct arena *arena)
{
	struct secret_mask *mask = arena_new(arena, struct secret_mask);
	mask->forms = arena_array(arena, struct str, secrets.count * FORMS_OF_SECRET);
	for (size_t i = 0; i < secrets.count; i++)
		add_secret(mask, secrets.at[i], arena);
	return mask;
}

/* ---- searching ----------------------------------------------------------------------- */

/* Size of the longest form that begins here; 0 = none.  *out_could: more text could complete a
 * longer one. */
static size_t match(const struct secret_mask *mask, struct str text, bool *out_could)
{
	size_t longest = 0;
	*out_could = false;
	if (!mask->begins[(unsigned char)text.at[0]])
		return 0;
	for (size_t i = 0; i < mask->count; i++) {
		struct str form = mask->forms[i];
		size_t size = form.size < text.size ? form.size : text.size;
		if (memcmp(form.at, text.at, size) != 0)
			continue;
		if (form.size > text.size)
			*out_could = true;
		else if (form.size > longest)
			longest = form.size;
	}
	return longest;
}

size_t secret_mask_stream(const struct secret_mask *mask, struct str text, bool last,
			  struct buf *out)
{
	size_t at = 0, plain = 0;
	while (at < text.size) {
		bool could;
		size_t size = match(mask, str_skip(text, at), &could);
		if (could && !last)
			break;
		/* Text may have been cut within a secret. */
		if (could && size == 0 && text.size - at >= SHORTEST_FORM)
			size = text.size - at;
		if (size == 0) {
			at++;
			continue;
		}
		buf_add(out, str_head(str_skip(text, plain), at - plain));
		buf_add(out, S(SECRET_MASK_TEXT));
		at += size;
		plain = at;
	}
	buf_add(out, str_head(str_skip(text, plain), at - plain));
	return at;
}

void secret_mask_add(const struct secret_mask *mask, struct str text, struct buf *out)
{
	secret_mask_stream(mask, text, true, out);
}

/* ---- trees and errors ---------------------------------------------------------------- */

static struct str masked(const struct secret_mask *mask, struct str text, struct arena *arena)
{
	AUTO(buf) out = { 0 };
	secret_mask_add(mask, text, &out);
	return str_copy(arena, buf_str(&out));
}

static struct json mask_tree(const struct secret_mask *mask, const struct json *tree,
			     struct arena *arena)
{
	struct json out = *tree;
	if (tree->kind == JSON_STRING) {
		out.as.string = masked(mask, tree->as.string, arena);
	} else if (tree->kind == JSON_LIST) {
		struct json *items = arena_array(arena, struct json, tree->as.list.count);
		for (size_t i = 0; i < tree->as.list.count; i++)
			items[i] = mask_tree(mask, &tree->as.list.at[i], arena);
		out.as.list.at = items;
	} else if (tree->kind == JSON_OBJECT) {
		struct json_member *members =
			arena_array(arena, struct json_member, tree->as.object.count);
		for (size_t i = 0; i < tree->as.object.count; i++) {
			members[i] = tree->as.object.at[i];
			members[i].key = masked(mask, members[i].key, arena);
			members[i].value = mask_tree(mask, &tree->as.object.at[i].value, arena);
		}
		out.as.object.at = members;
	}
	return out;
}

const struct json *secret_mask_json(const struct secret_mask *mask, const struct json *tree,
				    struct arena *arena)
{
	struct json *out = arena_new(arena, struct json);
	*out = mask_tree(mask, tree, arena);
	return out;
}

void secret_mask_error(const struct secret_mask *mask, struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct str text = masked(mask, str_from_c(error->text), &arena);
	uint32_t line = error->line, column = error->column;
	(void)!fail(error, error->code, STR_FMT, STR_ARG(text));
	error->line = line;
	error->column = column;
}
