/* definition/name_scope.h -- the names that templates and expressions may use; private to definition.
 *
 * A reader is a step, or the outputs of the workflow, that reads a value.  name_scope.c checks one name,
 * name_report.c reads whole values and reports what is wrong with them at its place.
 */
#ifndef DEFINITION_NAME_SCOPE_H
#define DEFINITION_NAME_SCOPE_H

#include "definition/compile_internal.h"

/* The scope of a template or expression: which names it may use. */
struct reader {
	struct body *body;
	int64_t step;       /* number of the step that reads; -1 = the workflow's outputs */
	bool own;           /* the step may read its own result: until, edges */
	bool inside;        /* until of a loop: all steps of this body have ended */
	bool has_output;    /* the name `output` is available */
	bool takes_secrets; /* the value may contain ${secrets.NAME} */
	struct str_list secret_inputs; /* of the step's tool: those that may, for the error */
};

void definition_read_template(const struct reader *reader, const struct json *template,
			      struct str key);
void definition_read_expression(const struct reader *reader, struct str text, struct str key);
/* What the check of a name has found besides its error. */
struct name_advice {
	struct str part;        /* what is wrong of it: the name, or the output that is read */
	struct str replacement; /* "" = none is known */
	struct str warning;     /* "" = none */
	const struct body
		*body; /* depends_on of the step `user` in it lacks the name; NULL = not so */
	size_t user;
};
/* Checks one name that the reader uses. */
MUST_CHECK bool definition_check_name(const struct reader *reader, enum expr_name kind,
				      struct str name, struct str key, struct name_advice *advice,
				      struct error *error);
/* The names of the steps of the body and, if asked for, of those around it. */
struct str_list definition_step_names(const struct body *body, bool around);

#endif
