/* Prompt templates under libFuzzer: what is parsed is rendered twice to the same text or error, within
 * the limits; text is valid UTF-8; an error names its place; the names are found.
 *
 * The first byte has the options, the rest is the template, which can include itself as "self".
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "template/jinja.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char values[] =
	"{\"s\":\"The quick <b>br\\u00f6wn</b> fox\",\"n\":7,\"f\":2.5,\"t\":true,\"z\":null,"
	"\"l\":[3,1,2],\"w\":[\"b\",\"A\",\"a\"],\"m\":{\"b\":1,\"a\":[2]},"
	"\"u\":[{\"k\":\"x\",\"v\":1},{\"k\":\"y\"}]}";

static bool load(void *context, struct str name, struct arena *arena, struct str *out_source,
		 struct error *error)
{
	(void)arena;
	if (!str_equal(name, S("self")))
		return fail(error, ERROR_NOT_FOUND, "none");
	*out_source = *(const struct str *)context;
	return true;
}

static bool visit(void *context, const struct jinja_name *name, struct error *error)
{
	size_t *count = context;
	(void)error;
	require(name->name.size > 0 && name->line > 0 && name->column > 0);
	(*count)++;
	return true;
}

static void check_error(const struct error *error)
{
	require(error->code == ERROR_INVALID && error->line > 0 && error->column > 0);
	require(strchr(error->text, ':') != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) arena = { 0 };
	const struct jinja_template *template;
	const struct json *json;
	struct error error = { 0 }, again = { 0 };
	struct str first = S(""), second = S("");
	size_t names = 0, bad;
	if (size < 1)
		return 0;
	struct str source = { (const char *)data + 1, size - 1 };
	struct jinja_options options = { .trim_blocks = (data[0] & 1) != 0,
					 .lstrip_blocks = (data[0] & 2) != 0,
					 .strict = (data[0] & 4) != 0,
					 .load = load,
					 .context = &source };
	bool good = json_read(str_from_c(values), &arena, &json, &error);
	require(good);
	if (!jinja_parse(S("t"), source, &options, &arena, &template, &error)) {
		check_error(&error);
		return 0;
	}
	if (!jinja_names(template, &options, visit, &names, &arena, &error))
		check_error(&error);
	error = (struct error){ 0 };
	good = jinja_render(template, json, &options, &arena, &first, &error);
	bool same = jinja_render(template, json, &options, &arena, &second, &again) == good;
	require(same && str_equal(first, second) && strcmp(error.text, again.text) == 0);
	if (good)
		require(first.size <= LIMIT_TEMPLATE_OUTPUT_BYTES && utf8_valid(first, &bad));
	else
		check_error(&error);
	return 0;
}
