/* template_probe.c -- renders templates, for tests/template.
 *
 * A line of JSON comes in: {"source": text, "data": {…}, "files": {name: text}, "trim_blocks": bool,
 * "lstrip_blocks": bool, "strict": bool}.  A line goes out: {"text": …} or {"error": …}.  With "names"
 * instead of data: {"names": ["steps.a.status", "?x", …]}, where ? marks a name that is set on some ways.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "template/jinja.h"

static bool load(void *context, struct str name, struct arena *arena, struct str *out_source,
		 struct error *error)
{
	const struct json *file = json_member(context, name);
	(void)arena;
	if (file == NULL)
		return fail(error, ERROR_NOT_FOUND, "there is no template " STR_FMT, STR_ARG(name));
	*out_source = file->as.string;
	return true;
}

static bool flag(const struct json *request, struct str name)
{
	const struct json *value = json_member(request, name);
	return value != NULL && value->as.boolean;
}

static bool add_name(void *context, const struct jinja_name *name, struct error *error)
{
	struct json_writer *writer = context;
	AUTO(buf) text = { 0 };
	if (str_equal(name->name, S("refused")))
		return fail(error, ERROR_INVALID, "the name is refused");
	buf_add_format(&text, "%s" STR_FMT, name->bound ? "?" : "", STR_ARG(name->name));
	for (size_t i = 0; i < name->path.count; i++)
		buf_add_format(&text, "." STR_FMT, STR_ARG(name->path.at[i]));
	json_put_str(writer, buf_str(&text));
	return true;
}

static void answer(struct str line, struct buf *out)
{
	AUTO(arena) arena = { 0 };
	const struct json *request, *data;
	struct error error = { 0 };
	const struct jinja_template *template;
	struct str text = S("");
	bool good = json_read(line, &arena, &request, &error);
	require(good);
	void *files = (void *)(uintptr_t)json_member(request, S("files"));
	struct jinja_options options = { .trim_blocks = flag(request, S("trim_blocks")),
					 .lstrip_blocks = flag(request, S("lstrip_blocks")),
					 .strict = flag(request, S("strict")),
					 .load = load,
					 .context = files };
	struct json_writer writer = { .out = out };
	json_open(&writer, '{');
	bool names = flag(request, S("names"));
	data = json_member(request, S("data"));
	good = jinja_parse(S("main"), json_text(json_member(request, S("source"))), &options,
			   &arena, &template, &error);
	if (good && names) {
		AUTO(buf) list = { 0 };
		struct json_writer inner = { .out = &list };
		json_open(&inner, '[');
		good = jinja_names(template, &options, add_name, &inner, &arena, &error);
		json_close(&inner, ']');
		if (good) {
			json_key(&writer, S("names"));
			json_put_raw(&writer, buf_str(&list));
		}
	} else if (good) {
		good = jinja_render(template, data, &options, &arena, &text, &error);
		if (good) {
			json_key(&writer, S("text"));
			json_put_str(&writer, text);
		}
	}
	if (!good) {
		json_key(&writer, S("error"));
		json_put_str(&writer, str_from_c(error.text));
	}
	json_close(&writer, '}');
	buf_add_char(out, '\n');
}

int main(void)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t size;
	while ((size = getline(&line, &room, stdin)) > 0) {
		AUTO(buf) out = { 0 };
		answer((struct str){ line, (size_t)size }, &out);
		if (fwrite(out.at, 1, out.size, stdout) != out.size || fflush(stdout) != 0)
			return 1;
	}
	free(line);
	return 0;
}
