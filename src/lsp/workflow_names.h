/* lsp/workflow_names.h -- the names that a workflow file declares, and the places that refer to names. */
#ifndef LSP_WORKFLOW_NAMES_H
#define LSP_WORKFLOW_NAMES_H

#include "base/arena.h"
#include "lsp/text_position.h"
#include "lsp/yaml_places.h"

enum name_kind { NAME_STEP, NAME_AGENT, NAME_INPUT, NAME_VARIABLE, NAME_TOOL, NAME_WORKFLOW };

/* A step, an agent, an input or a variable that the file declares. */
struct declared_name {
	enum name_kind kind;
	struct str name;
	struct yaml_path body;      /* of a step: the list that it is in */
	struct text_position place; /* of the name */
	struct str calls;           /* of a step: its tool, agent or workflow */
	struct str caller;          /* the key in front of it: "tool", "agent" ... */
	struct str description;
};

struct declared_names {
	struct declared_name *at;
	size_t count;
};

/* At most LIMIT_LSP_NAMES; further ones are left out. */
struct declared_names workflow_names_read(struct str text, struct arena *arena);
/* The name that a reference means: of steps the one in the same body first.  NULL = none. */
const struct declared_name *workflow_names_find(const struct declared_names *names,
						enum name_kind kind, struct str name,
						const struct yaml_path *near);

/* What may stand at a place: the kind of name that the value there refers to. */
bool workflow_names_kind_at(const struct yaml_path *path, enum name_kind *out_kind);
/* True when the value at this place is an expression without ${}. */
bool workflow_names_expression_at(const struct yaml_path *path);

struct name_reference {
	enum name_kind kind;
	struct str name;
	struct text_position place;
	struct yaml_path path; /* of the value that has it */
};

/* The reference at a position: a value that names something, or inputs.x, steps.x, ctx.x in an expression. */
bool workflow_names_reference(struct str text, struct text_position at, struct name_reference *out);

#endif
