/* definition/dialect.c -- recognises the dialect of a file and calls its translator. */
#include "definition/dialect.h"

#include "definition/tree_build.h"

/* A key that only one dialect has. */
struct telling_key {
	struct str key;
	enum dialect dialect;
};

#define KEY(word, dialect)                          \
	{                                           \
		{ word, sizeof(word) - 1 }, dialect \
	}
static const struct telling_key keys[] = {
	KEY("nodes", DIALECT_GRAPH),
	KEY("edges", DIALECT_GRAPH),
	KEY("entry_point", DIALECT_GRAPH),
	KEY("steps", DIALECT_RUNTIME),
	KEY("patterns", DIALECT_GRAPH),
	KEY("handoff_rules", DIALECT_TEAM),
	KEY("collaboration_patterns", DIALECT_TEAM),
	KEY("guardrail_policies", DIALECT_TEAM),
	KEY("execution_config", DIALECT_TEAM),
	KEY("default_llm", DIALECT_TEAM),
};

enum dialect dialect_of(const struct json *tree)
{
	for (size_t i = 0; i < COUNT(keys); i++)
		if (json_member(tree, keys[i].key) != NULL)
			return keys[i].dialect;
	return DIALECT_RUNTIME;
}

const char *dialect_name(enum dialect dialect)
{
	switch (dialect) {
	case DIALECT_GRAPH:
		return "graph workflow";
	case DIALECT_TEAM:
		return "team file";
	case DIALECT_RUNTIME:
		break;
	}
	return "workflow";
}

const struct json *dialect_translate(struct compiler *c, enum dialect dialect,
				     const struct json *tree, struct str text)
{
	switch (dialect) {
	case DIALECT_GRAPH:
		return dialect_graph_translate(c, tree, text);
	case DIALECT_TEAM:
		return dialect_team_translate(c, tree, text);
	case DIALECT_RUNTIME:
		break;
	}
	return dialect_runtime_translate(c, tree);
}

void dialect_name_problems(const struct compiler *c, enum dialect dialect, const struct json *tree,
			   struct problems *problems, size_t first)
{
	if (dialect == DIALECT_RUNTIME)
		return;
	for (size_t i = first; i < problems->count; i++) {
		struct problem *problem = &problems->at[i];
		problem->text = str_format(c->arena, "%s: " STR_FMT, dialect_name(dialect),
					   STR_ARG(problem->text));
		problem->hint.dependency = S(""); /* steps have depends_on, nodes do not */
		if (problem->line > 0)
			problem->pointer =
				tree_pointer(tree, problem->line, problem->column, c->arena);
	}
}
