/* contract/document_kind.c -- the table of contracts/documents.def, and parsing a body by kind. */
#include "contract/document_kind.h"

#include "contract/migrate_pipeline.h"

#define DOCUMENT(constant, kind, entity, rules, text) type_function entity##_type;
#include "contracts/documents.def"
#undef DOCUMENT

static const struct kind_row {
	struct str name;
	type_function *of;
} rows[] = {
#define DOCUMENT(constant, kind, entity, rules, text) \
	[DOCUMENT_##constant] = { { kind, sizeof(kind) - 1 }, entity##_type },
#include "contracts/documents.def"
#undef DOCUMENT
};

struct str document_kind_name(enum document_kind kind)
{
	return rows[kind].name;
}

struct str document_version_name(struct str workflow, int64_t version, struct arena *arena)
{
	/* Names of workflows have no @. */
	return str_format(arena, STR_FMT "@%010lld", STR_ARG(workflow),
			  9999999999LL - (long long)version);
}

size_t document_kind_count(void)
{
	return COUNT(rows);
}

const struct type *document_type(enum document_kind kind)
{
	return rows[kind].of();
}

bool document_kind_from(struct str name, enum document_kind *out_kind)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		if (str_equal(rows[i].name, name)) {
			*out_kind = (enum document_kind)i;
			return true;
		}
	return false;
}

const void *document_read(enum document_kind kind, struct str body, struct arena *arena,
			  struct problems *problems)
{
	struct error error = { 0 };
	struct contract_source source = { .text = body };
	if (!json_read(body, arena, &source.json, &error)) {
		if (problems->arena == NULL)
			problems->arena = arena;
		problems_add(problems, S(""), error.line, error.column, "%s", error.text);
		return NULL;
	}
	bool old;
	const void *value = pipeline_read_old(document_type(kind), &source, arena, problems, &old);
	return old ? value : contract_parse(document_type(kind), &source, arena, problems);
}

const void *document_read_stored(enum document_kind kind, struct str body, struct arena *arena,
				 struct error *error)
{
	struct problems problems = { .arena = arena };
	struct contract_source source = { .text = body, .lenient = true };
	const void *value = NULL;
	if (json_read(body, arena, &source.json, error)) {
		value = contract_parse(document_type(kind), &source, arena, &problems);
		if (value == NULL)
			problems_fail(&problems, error);
	}
	if (value == NULL) {
		error->code = ERROR_STORAGE;
		error_prefix(error, "a stored " STR_FMT ": ", STR_ARG(rows[kind].name));
	}
	return value;
}
