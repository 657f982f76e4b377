/* Editing one setting leaves the rest of the text unchanged. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/yaml.h"
#include "config/config_edit.h"

static const struct change {
	const char *name, *value; /* NULL = unset */
	const char *before, *after;
} changes[] = {
	/* into an empty file */
	{ "serve.port", "1", "", "serve:\n  port: 1\n" },
	{ "server", "http://a:1", "", "server: http://a:1\n" },
	{ "serve.port", "1", "# only words", "# only words\nserve:\n  port: 1\n" },
	{ "serve.port", "1", "---\n", "---\nserve:\n  port: 1\n" },
	/* replaced in place */
	{ "serve.port", "1", "serve:\n  port: 8420 # why\n", "serve:\n  port: 1 # why\n" },
	{ "serve.port", "1", "# a\nserve: # b\n    # c\n    port:   8420\n    host: ::1 # d\n# e\n",
	  "# a\nserve: # b\n    # c\n    port:   1\n    host: ::1 # d\n# e\n" },
	{ "serve.port", "1", "serve.port: 8420\r\n# x\r\n", "serve.port: 1\r\n# x\r\n" },
	{ "serve.port", "1", "serve: {port: 8420, host: a} # x\n",
	  "serve: {port: 1, host: a} # x\n" },
	{ "serve.port", "1", "{serve: {host: a, port: 8420}}", "{serve: {host: a, port: 1}}" },
	{ "serve.host", "::1", "serve:\n  host: \"a # b\" # c\n", "serve:\n  host: \"::1\" # c\n" },
	{ "serve.host", "a b", "serve:\n  host: 'it''s' # c\n", "serve:\n  host: \"a b\" # c\n" },
	{ "serve.host", "true", "serve:\n  host: x\n", "serve:\n  host: \"true\"\n" },
	{ "serve.host", "x #y", "serve:\n  host: x\n", "serve:\n  host: \"x #y\"\n" },
	{ "serve.port", "1", "serve:\n  port: # later\n", "serve:\n  port: 1 # later\n" },
	{ "secrets.allow", "A,B",
	  "secrets:\n  allow:\n    - X\n    - Y # y\n# rest\nlog: {format: json}\n",
	  "secrets:\n  allow: [A, B]\n# rest\nlog: {format: json}\n" },
	{ "secrets.allow", "A", "secrets:\n  allow:\n  - X\n  - Y\n", "secrets:\n  allow: [A]\n" },
	{ "secrets.allow", "", "secrets: {allow: [A, \"]\"]}\n", "secrets: {allow: []}\n" },
	{ "serve.port", "1", "x: &a 5\nserve:\n  port: *a\n", "x: &a 5\nserve:\n  port: 1\n" },
	/* added at the end of its section */
	{ "serve.port", "1", "serve:\n    host: ::1 # x\n\n# tools\ntools:\n  isolation: off\n",
	  "serve:\n    host: ::1 # x\n    port: 1\n\n# tools\ntools:\n  isolation: off\n" },
	{ "serve.port", "1", "serve:\ntools:\n  isolation: off\n",
	  "serve:\n  port: 1\ntools:\n  isolation: off\n" },
	{ "serve.port", "1", "serve: {}\n", "serve: {port: 1}\n" },
	{ "serve.port", "1", "serve: {host: a}", "serve: {port: 1, host: a}" },
	{ "serve.port", "1", "{log: {format: json}}", "{serve: {port: 1}, log: {format: json}}" },
	{ "serve.port", "1", "serve:\n  host: a", "serve:\n  host: a\n  port: 1\n" },
	{ "log.format", "json", "  serve:\n    port: 1\n",
	  "  serve:\n    port: 1\n  log:\n    format: json\n" },
	{ "log.format", "json", "serve:\n  host: \xC3\xA4 # \xC3\xB6\n",
	  "serve:\n  host: \xC3\xA4 # \xC3\xB6\nlog:\n  format: json\n" },
	/* removed */
	{ "serve.port", NULL, "serve:\n  host: a\n  port: 1 # gone too\n# stays\n",
	  "serve:\n  host: a\n# stays\n" },
	{ "serve.port", NULL, "serve:\n  port: 1\n# stays\nlog:\n  format: json\n",
	  "# stays\nlog:\n  format: json\n" },
	{ "serve.port", NULL, "serve:\n  # stays\n  port: 1\n", "  # stays\n" },
	{ "serve.port", NULL, "serve.port: 1\nlog.format: json\n", "log.format: json\n" },
	{ "serve.port", NULL, "serve: {host: a, port: 1}\n", "serve: {host: a}\n" },
	{ "serve.port", NULL, "serve: {port: 1, host: a}\n", "serve: {host: a}\n" },
	{ "secrets.allow", NULL, "secrets:\n  allow:\n    - A\n    - B\nlog.format: json\n",
	  "log.format: json\n" },
};

Test(edit, changes)
{
	for (size_t i = 0; i < COUNT(changes); i++) {
		const struct change *change = &changes[i];
		AUTO(arena) arena = { 0 };
		struct str after;
		struct error error = { 0 };
		const struct config_row *row = config_find(str_from_c(change->name));
		struct str before = str_from_c(change->before);
		bool good = change->value != NULL
				    ? config_edit_set(before, row, change->value, &arena, &after,
						      &error)
				    : config_edit_unset(before, row, &arena, &after, &error);
		cr_assert(good, "%zu: %s", i, error.text);
		cr_assert(str_equal(after, str_from_c(change->after)), "%zu:\n" STR_FMT, i,
			  STR_ARG(after));
	}
}

static void refuse(const char *text, const char *name, const char *value, enum error_code code)
{
	AUTO(arena) arena = { 0 };
	struct str after = S("untouched");
	struct error error = { 0 };
	const struct config_row *row = config_find(str_from_c(name));
	bool good = value != NULL
			    ? config_edit_set(str_from_c(text), row, value, &arena, &after, &error)
			    : config_edit_unset(str_from_c(text), row, &arena, &after, &error);
	cr_assert(!good, "%s:\n" STR_FMT, text, STR_ARG(after));
	cr_assert_eq(error.code, code, "%s: %s", text, error.text);
	cr_assert(str_equal(after, S("untouched")));
}

Test(edit, refusals)
{
	refuse("serve:\n  port: 1\n", "serve.port", "x", ERROR_INVALID);
	refuse("", "api_key", "sk-itself", ERROR_INVALID);
	refuse("- 1\n", "serve.port", "1", ERROR_INVALID);
	refuse("a: [\n", "serve.port", "1", ERROR_SYNTAX);
	refuse("serve:\n  host: a\n", "serve.port", NULL, ERROR_NOT_FOUND);
	/* the edit would change more than the setting, or the syntax is not supported */
	refuse("x: &a {port: 5}\nserve: *a\n", "serve.port", "1", ERROR_CONFLICT);
	refuse("x: &a {port: 5}\nserve:\n  <<: *a\n", "serve.port", NULL, ERROR_CONFLICT);
	refuse("serve:\n  port: 1\n...\n", "log.format", "json", ERROR_CONFLICT);
	refuse("serve: ~\n", "serve.port", "1", ERROR_CONFLICT);
}

/* For any text, the result sets the setting and keeps everything else. */
Test(edit, any_text)
{
	static const char *const pieces[] = {
		"serve:", "\n",  "  ", "port: 1", "host: 'a'",     "# c",
		"{",      "}",   ", ", "log:",    "format: json",  "- x",
		"[a]",    "\"",  " ",  "---",     "serve.port: 2", "? ",
		"|",      "&a ", "*a", "\t",      "secrets:",      "allow: [A]"
	};
	static const char *const names[] = { "serve.port", "log.format", "secrets.allow" };
	static const char *const values[] = { "77", "human", "Q" };
	srandom(7);
	size_t edited = 0;
	for (int round = 0; round < 20000; round++) {
		AUTO(arena) arena = { 0 };
		AUTO(buf) text = { 0 };
		size_t count = (size_t)random() % 14;
		for (size_t i = 0; i < count; i++)
			buf_add(&text, str_from_c(pieces[(size_t)random() % COUNT(pieces)]));
		size_t which = (size_t)random() % COUNT(names);
		const struct config_row *row = config_find(str_from_c(names[which]));
		struct str after;
		struct error error;
		if (!config_edit_set(buf_str(&text), row, values[which], &arena, &after, &error))
			continue;
		edited++;
		const struct json *tree;
		cr_assert(yaml_read(after, &arena, &tree, &error));
		struct config_entries entries = config_entries(tree, &arena);
		size_t found = 0;
		for (size_t i = 0; i < entries.count; i++)
			found += entries.at[i].row == row;
		cr_assert_eq(found, 1, STR_FMT, STR_ARG(after));
		cr_assert(config_edit_unset(after, row, &arena, &after, &error) ||
			  error.code == ERROR_CONFLICT);
	}
	cr_assert(edited > 500, "%zu", edited);
}
