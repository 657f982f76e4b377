/* definition/verify_compile.c -- a verification to its node: target or repeated step, criteria, policy.
 *
 * Criteria with a command or a judge are steps of the body by now (dialect_verify.c); what is left is an
 * expression or a schema.
 */
#include "definition/compile_internal.h"
#include "definition/name_scope.h"

#include "contract/runtime_types.h"
#include "schema/schema.h"

static void check_schema(const struct body *body, size_t number,
			 const struct run_definition_criterion *criterion)
{
	struct problems problems = { .arena = body->compiler->arena };
	struct schema *schema;
	struct error error = { 0 };
	bool formats = has(criterion, format_assertion) && criterion->format_assertion;
	if (schema_compile_formats(criterion->schema, NULL, formats, body->compiler->arena, &schema,
				   &problems)) {
		schema_done(schema);
		return;
	}
	problems_fail(&problems, &error);
	definition_step_problem(body, number, S("verify"),
				"the schema of criterion " STR_FMT " is not a JSON Schema: %s",
				STR_ARG(criterion->name), error.text);
}

static void check_target(const struct body *body, size_t number,
			 const struct run_definition_verify *verify)
{
	if (has(verify, target) == has(verify, repeats))
		definition_step_problem(
			body, number, S("verify"),
			"verify needs target, the step whose output is checked; or it stands on "
			"that step itself, which is repeated then");
	if (!has(verify, repeats) || has(verify, target))
		return;
	for (size_t i = 0; i < verify->steps.count; i++)
		if (str_equal(verify->steps.at[i].name, verify->repeats))
			return;
	definition_step_problem(body, number, S("verify"),
				"repeats: " STR_FMT " is not one of the steps of verify",
				STR_ARG(verify->repeats));
}

/* Names, and what only a step that is repeated can have. */
static void check_criterion(const struct body *body, size_t number,
			    const struct run_definition_verify *verify, size_t i)
{
	const struct run_definition_criterion *criterion = &verify->criteria.at[i];
	for (size_t k = 0; k < i; k++)
		if (str_equal(verify->criteria.at[k].name, criterion->name))
			definition_step_problem(body, number, S("verify"),
						"duplicate criterion name " STR_FMT,
						STR_ARG(criterion->name));
	if (has(criterion, command) || has(criterion, judge))
		definition_step_problem(
			body, number, S("verify"),
			"criterion " STR_FMT
			" has a %s: such a verify stands on the step whose output it checks, "
			"without target",
			STR_ARG(criterion->name), has(criterion, command) ? "command" : "judge");
	if (has(criterion, schema))
		check_schema(body, number, criterion);
}

void definition_read_criteria(const struct reader *reader,
			      const struct run_definition_verify *verify, struct str key)
{
	for (size_t i = 0; i < verify->criteria.count; i++) {
		const struct run_definition_criterion *criterion = &verify->criteria.at[i];
		if (has(criterion, check))
			definition_read_expression(reader, criterion->check, key);
		if (has(criterion, reason))
			definition_read_expression(reader, criterion->reason, key);
	}
}

void definition_make_verify(const struct reader *reader, struct run_graph_node *node)
{
	struct body *body = reader->body;
	size_t number = (size_t)reader->step;
	const struct run_definition_verify *verify = body->steps.at[number].verify;
	struct arena *arena = body->compiler->arena;
	struct reader own = *reader;
	own.has_output = true;
	SET(node, kind, RUN_NODE_VERIFY);
	SET(node, policy,
	    has(verify, policy) ? verify->policy : runtime_verification_policy_new(arena));
	check_target(body, number, verify);
	if (has(verify, repeats)) {
		SET(node, repeats, verify->repeats);
	} else if (has(verify, target)) {
		SET(node, target, verify->target);
		definition_read_expression(
			&own,
			str_format(arena, "steps." STR_FMT ".outputs", STR_ARG(verify->target)),
			S("verify"));
		definition_read_criteria(&own, verify, S("verify"));
	}
	struct run_graph_criterion *criteria =
		arena_array(arena, struct run_graph_criterion, verify->criteria.count);
	for (size_t i = 0; i < verify->criteria.count; i++) {
		const struct run_definition_criterion *from = &verify->criteria.at[i];
		criteria[i] = *run_graph_criterion_new(arena);
		SET(&criteria[i], name, from->name);
		SET(&criteria[i], check, has(from, check) ? from->check : S("true"));
		SET(&criteria[i], critical, from->critical);
		if (has(from, schema))
			SET(&criteria[i], schema, from->schema);
		if (has(from, format_assertion) && from->format_assertion)
			SET(&criteria[i], format_assertion, true);
		if (has(from, reason))
			SET(&criteria[i], reason, from->reason);
		check_criterion(body, number, verify, i);
	}
	SET(node, criteria,
	    ((struct run_graph_criterion_list){ criteria, verify->criteria.count }));
}
