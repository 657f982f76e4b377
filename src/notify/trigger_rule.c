/* notify/trigger_rule.c -- the rule of a trigger.
 *
 * The language is that of definitions (expr/).  Unlike there, a condition that fails to evaluate does
 * not hold: an event that the author did not think of must not start anything.
 */
#include "notify/trigger_rule.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "expr/template.h"

/* ---- checking ---------------------------------------------------------------------------- */

static bool visit(void *context, enum expr_name kind, struct str name, struct str key,
		  struct error *error)
{
	(void)context;
	(void)key;
	if (kind == EXPR_NAME_VARIABLE &&
	    (str_equal(name, S("headers")) || str_equal(name, S("body"))))
		return true;
	return fail(error, ERROR_INVALID,
		    "unknown name " STR_FMT "; a trigger knows headers and body",
		    STR_ARG(str_head(name, LIMIT_NAME_BYTES)));
}

static void check_template(const struct json *template, const char *pointer,
			   struct problems *problems)
{
	struct error error;
	if (!template_check(template, problems->arena, visit, NULL, &error))
		problems_add(problems, str_from_c(pointer), 0, 0, "%s", error.text);
}

void trigger_rule_check(const struct run_trigger *trigger, struct problems *problems)
{
	const struct expr *expr;
	struct error error;
	if (has(trigger, when) && (!expr_parse(trigger->when, problems->arena, &expr, &error) ||
				   !expr_names(expr, visit, NULL, &error)))
		problems_add(problems, S("/when"), 0, 0, "%s", error.text);
	check_template(trigger->inputs, "/inputs", problems);
	check_template(trigger->labels, "/labels", problems);
	if (has(trigger, data))
		check_template(trigger->data, "/data", problems);
	if (has(trigger, label)) {
		const struct json label = { .kind = JSON_STRING, .as.string = trigger->label };
		size_t at;
		check_template(&label, "/label", problems);
		if (!str_find(trigger->label, S("="), &at) || at == 0)
			problems_add(problems, S("/label"), 0, 0, "must be NAME=VALUE");
	}
}

/* ---- what the rule sees ------------------------------------------------------------------ */

struct scene {
	const struct json *headers, *body;
};

static const struct json *variable(void *context, struct str name)
{
	const struct scene *scene = context;
	return str_equal(name, S("headers")) ? scene->headers
	       : str_equal(name, S("body"))  ? scene->body
					     : NULL;
}

static const struct json *no_step(void *context, struct str name, enum expr_field field)
{
	(void)context;
	(void)name;
	(void)field;
	return NULL;
}

static const struct json *no_context(void *context, struct str name)
{
	(void)context;
	(void)name;
	return NULL;
}

static bool is_hidden(struct str name)
{
	static const struct str hidden[] = {
		{ "authorization", 13 },    { "cookie", 6 },
		{ "x-api-key", 9 },         { "x-gitlab-token", 14 },
		{ "x-hub-signature", 15 },  { "x-hub-signature-256", 19 },
		{ "webhook-signature", 17 }
	};
	for (size_t i = 0; i < COUNT(hidden); i++)
		if (str_equal_folded(name, hidden[i]))
			return true;
	return false;
}

static struct str key_of(struct str name, struct arena *arena)
{
	char *text = arena_take_text(arena, name.size + 1);
	for (size_t i = 0; i < name.size; i++) {
		char c = name.at[i], small = (char)(c | 32);
		bool letter = small >= 'a' && small <= 'z';
		text[i] = letter ? small : c >= '0' && c <= '9' ? c : '_';
	}
	return (struct str){ text, name.size };
}

static const struct json *headers_of(const struct trigger_request *request, struct arena *arena)
{
	struct json *object = arena_new(arena, struct json);
	struct json_member *members = arena_array(arena, struct json_member, request->header_count);
	size_t count = 0;
	for (size_t i = 0; i < request->header_count; i++) {
		const struct http_header *header = &request->headers[i];
		size_t bad;
		if (is_hidden(header->name) || !utf8_valid(header->value, &bad))
			continue;
		struct str key = key_of(header->name, arena);
		size_t k = 0;
		while (k < count && !str_equal(members[k].key, key))
			k++;
		members[k] = (struct json_member){
			.key = key, .value = { .kind = JSON_STRING, .as.string = header->value }
		};
		count += k == count;
	}
	*object = (struct json){ .kind = JSON_OBJECT, .as.object = { members, count } };
	return object;
}

/* ---- applying ---------------------------------------------------------------------------- */

static bool holds(const struct run_trigger *trigger, const struct expr_scope *scope,
		  struct arena *arena)
{
	const struct expr *expr;
	const struct json *value;
	struct error error;
	if (!has(trigger, when))
		return true;
	return expr_parse(trigger->when, arena, &expr, &error) &&
	       expr_evaluate(expr, scope, arena, &value, &error) && expr_is_true(value);
}

static bool render(const struct json *template, const struct expr_scope *scope, const char *member,
		   struct arena *arena, const struct json **out_value, struct error *error)
{
	*out_value = template_render(template, scope, arena);
	return *out_value != NULL ||
	       fail(error, ERROR_TOO_LARGE, "%s of the trigger: the rendered value is too long",
		    member);
}

/* Labels are texts; numbers of the body are printed. */
static bool render_labels(const struct run_trigger *trigger, const struct expr_scope *scope,
			  struct arena *arena, struct str_map *out_labels, struct error *error)
{
	const struct json *labels;
	if (!render(trigger->labels, scope, "labels", arena, &labels, error))
		return false;
	size_t count = labels->as.object.count;
	struct str_entry *entries = arena_array(arena, struct str_entry, count);
	if (count > LIMIT_LABELS)
		return fail(error, ERROR_INVALID, "labels of the trigger: more than %d labels",
			    LIMIT_LABELS);
	for (size_t i = 0; i < count; i++) {
		const struct json_member *member = &labels->as.object.at[i];
		struct str value = member->value.kind == JSON_STRING
					   ? member->value.as.string
					   : json_print(arena, &member->value);
		if (value.size > LIMIT_LABEL_BYTES || member->key.size > LIMIT_LABEL_NAME_BYTES)
			return fail(error, ERROR_INVALID,
				    "labels of the trigger: " STR_FMT " is too long",
				    STR_ARG(str_head(member->key, LIMIT_NAME_BYTES)));
		entries[i] = (struct str_entry){ .key = member->key, .value = value };
	}
	*out_labels = (struct str_map){ entries, count };
	return true;
}

static bool find_run(const struct run_trigger *trigger, const struct expr_scope *scope,
		     struct store_reader *reader, struct arena *arena, struct uuid *out_run,
		     struct error *error)
{
	static const struct str states[] = {
		{ "queued", 6 }, { "running", 7 }, { "paused", 6 }, { "waiting_human", 13 }
	};
	const struct json template = { .kind = JSON_STRING, .as.string = trigger->label };
	const struct json *rendered;
	struct store_run_page page;
	if (!render(&template, scope, "label", arena, &rendered, error))
		return false;
	struct str label = json_text(rendered);
	const struct store_run_filter filter = { .name = S(""),
						 .states = states,
						 .state_count = COUNT(states),
						 .labels = { &label, 1 } };
	if (!reader->ops->list_runs(reader, &filter, NULL, 1, arena, &page, error))
		return false;
	if (page.count == 0)
		return fail(error, ERROR_NOT_FOUND, "no run with the label " STR_FMT " is active",
			    STR_ARG(str_head(label, LIMIT_QUOTE_BYTES)));
	*out_run = page.at[0].id;
	return true;
}

bool trigger_rule_apply(const struct run_trigger *trigger, const struct trigger_request *request,
			struct store_reader *reader, struct arena *arena,
			struct trigger_action *out_action, struct error *error)
{
	struct scene scene = { .headers = headers_of(request, arena) };
	const struct expr_scope scope = {
		.step = no_step, .ctx = no_context, .variable = variable, .context = &scene
	};
	struct trigger_action action = { .matched = true };
	if (!json_read(request->body, arena, &scene.body, error)) {
		error_prefix(error, "the body is not JSON: ");
		return false;
	}
	if (!holds(trigger, &scope, arena)) {
		*out_action = (struct trigger_action){ .matched = false };
		return true;
	}
	bool good;
	if (has(trigger, workflow))
		good = render(trigger->inputs, &scope, "inputs", arena, &action.inputs, error) &&
		       render_labels(trigger, &scope, arena, &action.labels, error);
	else
		good = find_run(trigger, &scope, reader, arena, &action.run, error) &&
		       (!has(trigger, data) ||
			render(trigger->data, &scope, "data", arena, &action.data, error));
	if (good && has(trigger, signal) && !has(trigger, data))
		action.data = scene.body;
	if (good)
		*out_action = action;
	return good;
}
