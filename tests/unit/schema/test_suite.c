/* The complete JSON Schema test suite for draft 7, as packaged by Debian. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"

#define SUITE  "/usr/share/json-schema-test-suite"
#define DRAFT7 "/usr/lib/python3/dist-packages/jsonschema/schemas/draft7.json"

static struct arena arena;

static void begin(void)
{
	arena = (struct arena){ 0 };
}

static void end(void)
{
	arena_done(&arena);
}

TestSuite(suite, .init = begin, .fini = end);

static const struct json *read_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	cr_assert(file != NULL, "%s: tools/install-deps brings it", path);
	AUTO(buf) text = { 0 };
	int c;
	while ((c = fgetc(file)) != EOF)
		buf_add_char(&text, (char)c);
	fclose(file);
	const struct json *json = NULL;
	struct error error;
	bool good = json_read(str_copy(&arena, buf_str(&text)), &arena, &json, &error);
	cr_assert(good, "%s: %s", path, error.text);
	return json;
}

/* The documents that the suite expects at localhost:1234, and the meta-schema. */
static struct schema_library remotes(void)
{
	static const struct {
		const char *uri, *file;
	} files[] = {
		{ "http://localhost:1234/integer.json", SUITE "/remotes/integer.json" },
		{ "http://localhost:1234/subSchemas.json", SUITE "/remotes/subSchemas.json" },
		{ "http://localhost:1234/name.json", SUITE "/remotes/name.json" },
		{ "http://localhost:1234/folder/folderInteger.json",
		  SUITE "/remotes/folder/folderInteger.json" },
		{ "http://json-schema.org/draft-07/schema", DRAFT7 },
	};
	struct schema_document *documents =
		arena_array(&arena, struct schema_document, COUNT(files));
	for (size_t i = 0; i < COUNT(files); i++)
		documents[i] = (struct schema_document){ str_from_c(files[i].uri),
							 read_file(files[i].file) };
	return (struct schema_library){ documents, COUNT(files) };
}

/* The folder says draft 7; the schemas do not. */
static const struct json *as_draft7(const struct json *schema)
{
	if (schema->kind != JSON_OBJECT)
		return schema;
	size_t count = schema->as.object.count;
	struct json_member *members = arena_array(&arena, struct json_member, count + 1);
	members[0].key = S("$schema");
	members[0].value =
		(struct json){ .kind = JSON_STRING,
			       .as.string = S("http://json-schema.org/draft-07/schema#") };
	memcpy(members + 1, schema->as.object.at, count * sizeof(*members));
	struct json *copy = arena_new(&arena, struct json);
	*copy = (struct json){ .kind = JSON_OBJECT, .as.object = { members, count + 1 } };
	return copy;
}

static size_t play(const char *path, const struct schema_library *library, bool formats)
{
	const struct json *file = read_file(path);
	size_t cases = 0;
	for (size_t g = 0; g < file->as.list.count; g++) {
		const struct json *group = &file->as.list.at[g];
		struct problems problems = { .arena = &arena };
		struct schema *schema = NULL;
		bool good = schema_compile_formats(as_draft7(json_member(group, S("schema"))),
						   library, formats, &arena, &schema, &problems);
		cr_expect(good, "%s: " STR_FMT ": " STR_FMT, path,
			  STR_ARG(json_text(json_member(group, S("description")))),
			  STR_ARG(problems_text(&problems, &arena)));
		const struct json *tests = json_member(group, S("tests"));
		for (size_t t = 0; good && t < tests->as.list.count; t++) {
			const struct json *test = &tests->as.list.at[t];
			struct problems found = { .arena = &arena };
			bool valid =
				schema_check(schema, json_member(test, S("data")), &arena, &found);
			cr_expect_eq(valid, json_member(test, S("valid"))->as.boolean,
				     "%s: " STR_FMT ": " STR_FMT, path,
				     STR_ARG(json_text(json_member(group, S("description")))),
				     STR_ARG(json_text(json_member(test, S("description")))));
			cr_expect_eq(valid, found.count == 0);
			cases++;
		}
		schema_done(schema);
	}
	return cases;
}

Test(suite, draft_7_whole)
{
	struct schema_library library = remotes();
	DIR *folder = opendir(SUITE "/tests/draft7");
	cr_assert(folder != NULL);
	size_t cases = 0, files = 0;
	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		char path[512];
		if (strstr(entry->d_name, ".json") == NULL)
			continue;
		snprintf(path, sizeof(path), SUITE "/tests/draft7/%s", entry->d_name);
		cases += play(path, &library, false);
		files++;
	}
	closedir(folder);
	cr_assert(files >= 35 && cases >= 423, "%zu files, %zu cases", files, cases);
}

Test(suite, draft_7_formats)
{
	static const char *const names[] = { "date-time", "date",     "time",         "ipv4",
					     "ipv6",      "hostname", "json-pointer", "regex" };
	struct schema_library library = remotes();
	size_t cases = 0;
	for (size_t i = 0; i < COUNT(names); i++) {
		char path[512];
		snprintf(path, sizeof(path), SUITE "/tests/draft7/optional/format/%s.json",
			 names[i]);
		cases += play(path, &library, true);
	}
	cr_assert(cases >= 60, "%zu cases", cases);
}
