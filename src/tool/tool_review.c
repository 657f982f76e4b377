/* tool/tool_review.c -- review_merge and evaluation_sort: the verdicts of reviewers and of the evaluator.
 *
 * Reviewers are models, and a model may reply with less than it was asked for.  A review with neither
 * verdict nor comments says nothing, so it approves nothing.
 */
#include "contract/run_review_types.h"
#include "tool/tool_context.h"

/* ---- review_merge -------------------------------------------------------------------------- */

static bool is_empty(const struct run_review_merge_item *review)
{
	return !has(review, approved) && (!has(review, comments) || review->comments.count == 0);
}

/* The enum begins with the worst. */
static enum pipeline_severity severity_of(const struct run_review_merge_item *review)
{
	bool comments = has(review, comments) && review->comments.count > 0;
	if (has(review, severity))
		return review->severity;
	return comments ? PIPELINE_SEVERITY_MINOR : PIPELINE_SEVERITY_NONE;
}

static struct pipeline_review_result completed(const struct run_review_merge_item *review,
					       size_t number, struct arena *arena)
{
	struct pipeline_review_result *result = pipeline_review_result_new(arena);
	SET(result, reviewer_persona,
	    has(review, reviewer_persona) && review->reviewer_persona.size > 0
		    ? review->reviewer_persona
		    : str_format(arena, "Reviewer %zu", number));
	SET(result, approved, has(review, approved) && review->approved);
	SET(result, comments,
	    has(review, comments) ? review->comments : (struct str_list){ NULL, 0 });
	SET(result, severity, severity_of(review));
	return *result;
}

static struct str_list all_comments(const struct pipeline_review_result *reviews, size_t count,
				    struct arena *arena)
{
	size_t all = 0;
	for (size_t i = 0; i < count; i++)
		all += reviews[i].comments.count;
	struct str *at = arena_array(arena, struct str, all);
	all = 0;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < reviews[i].comments.count; k++)
			at[all++] = count == 1 ? reviews[i].comments.at[k]
					       : str_format(arena, STR_FMT ": " STR_FMT,
							    STR_ARG(reviews[i].reviewer_persona),
							    STR_ARG(reviews[i].comments.at[k]));
	return (struct str_list){ at, all };
}

static struct str all_personas(const struct pipeline_review_result *reviews, size_t count,
			       struct arena *arena)
{
	AUTO(buf) text = { 0 };
	for (size_t i = 0; i < count; i++)
		buf_add_format(&text, "%s" STR_FMT, i == 0 ? "" : ", ",
			       STR_ARG(reviews[i].reviewer_persona));
	return str_copy(arena, buf_str(&text));
}

static bool compute_merge(const struct json *inputs, struct arena *arena,
			  const struct json **out_output, struct error *error)
{
	const struct run_review_merge_inputs *given =
		tool_context_inputs(run_review_merge_inputs_type(), inputs, arena, error);
	if (given == NULL)
		return false;
	size_t count = given->reviews.count, approvals = 0;
	bool empty = count == 0;
	enum pipeline_severity worst = PIPELINE_SEVERITY_NONE;
	struct pipeline_review_result *reviews =
		arena_array(arena, struct pipeline_review_result, count);
	for (size_t i = 0; i < count; i++) {
		reviews[i] = completed(&given->reviews.at[i], i + 1, arena);
		empty |= is_empty(&given->reviews.at[i]);
		approvals += reviews[i].approved;
		worst = reviews[i].severity < worst ? reviews[i].severity : worst;
	}
	bool approved = !empty && approvals == count;
	struct run_review_merge_outputs *outputs = run_review_merge_outputs_new(arena);
	SET(outputs, reviewer_persona, all_personas(reviews, count, arena));
	SET(outputs, approved, approved);
	SET(outputs, comments, all_comments(reviews, count, arena));
	SET(outputs, severity, worst);
	SET(outputs, reviews, ((struct pipeline_review_result_list){ reviews, count }));
	SET(outputs, empty, empty);
	SET(outputs, status,
	    approved                              ? RUNTIME_REVIEW_APPROVED
	    : worst == PIPELINE_SEVERITY_CRITICAL ? RUNTIME_REVIEW_REJECTED
						  : RUNTIME_REVIEW_CHANGES_REQUESTED);
	SET(outputs, summary,
	    empty ? S("a review is empty: it has neither a verdict nor comments")
		  : str_format(arena, "%zu of %zu reviewers approve", approvals, count));
	*out_output = TOOL_OUTPUT(run_review_merge_outputs, outputs, arena);
	return true;
}

const struct tool tool_review_merge = {
	.name = "review_merge",
	.text = "Merges the reviews of several reviewers: all must approve, the worst severity counts, and "
		"an empty review approves nothing.",
	.class = RUN_CLASS_PURE,
	.risk = RUN_RISK_LOW,
	.inputs = run_review_merge_inputs_type,
	.outputs = run_review_merge_outputs_type,
	.compute = compute_merge,
};

/* ---- evaluation_sort ------------------------------------------------------------------------- */

static struct pipeline_evaluated_item_list items_with(struct pipeline_evaluated_item_list items,
						      enum pipeline_disposition disposition,
						      struct arena *arena)
{
	struct pipeline_evaluated_item *at =
		arena_array(arena, struct pipeline_evaluated_item, items.count);
	size_t count = 0;
	for (size_t i = 0; i < items.count; i++)
		if (items.at[i].disposition == disposition)
			at[count++] = items.at[i];
	return (struct pipeline_evaluated_item_list){ at, count };
}

static bool is_chosen(const struct run_evaluation_sort_inputs *given, int64_t number)
{
	bool chosen = !has(given, approved_items);
	for (size_t i = 0; !chosen && i < given->approved_items.count; i++)
		chosen = given->approved_items.at[i] == number;
	return chosen;
}

static bool compute_sort(const struct json *inputs, struct arena *arena,
			 const struct json **out_output, struct error *error)
{
	const struct run_evaluation_sort_inputs *given =
		tool_context_inputs(run_evaluation_sort_inputs_type(), inputs, arena, error);
	if (given == NULL)
		return false;
	struct pipeline_evaluation_result *result = pipeline_evaluation_result_new(arena);
	struct pipeline_evaluated_item_list implement =
		items_with(given->items, PIPELINE_DISPOSITION_IMPLEMENT, arena);
	SET(result, items_to_implement, implement);
	SET(result, items_rejected, items_with(given->items, PIPELINE_DISPOSITION_REJECT, arena));
	SET(result, items_deferred, items_with(given->items, PIPELINE_DISPOSITION_DEFER, arena));
	SET(result, items_needing_clarification,
	    items_with(given->items, PIPELINE_DISPOSITION_CLARIFY, arena));
	SET(result, summary,
	    has(given, summary)
		    ? given->summary
		    : str_format(arena,
				 "%zu to implement, %zu rejected, %zu deferred, %zu to clarify",
				 implement.count, result->items_rejected.count,
				 result->items_deferred.count,
				 result->items_needing_clarification.count));
	struct pipeline_evaluated_item *fix =
		arena_array(arena, struct pipeline_evaluated_item, implement.count);
	int64_t *numbers = arena_array(arena, int64_t, implement.count);
	size_t count = 0;
	for (size_t i = 0; i < implement.count; i++)
		if (is_chosen(given, implement.at[i].number)) {
			numbers[count] = implement.at[i].number;
			fix[count++] = implement.at[i];
		}
	struct run_evaluation_sort_outputs *outputs = run_evaluation_sort_outputs_new(arena);
	SET(outputs, result, result);
	SET(outputs, to_fix, ((struct pipeline_evaluated_item_list){ fix, count }));
	SET(outputs, to_clarify, result->items_needing_clarification);
	SET(outputs, rejected, result->items_rejected);
	SET(outputs, deferred, result->items_deferred);
	SET(outputs, approved_items, ((struct int_list){ numbers, count }));
	SET(outputs, count, (int64_t)count);
	*out_output = TOOL_OUTPUT(run_evaluation_sort_outputs, outputs, arena);
	return true;
}

const struct tool tool_evaluation_sort = {
	.name = "evaluation_sort",
	.text = "Sorts the evaluated comments of a review by what happens with them, and lists those to "
		"fix, restricted to the ones that a person chose.",
	.class = RUN_CLASS_PURE,
	.risk = RUN_RISK_LOW,
	.inputs = run_evaluation_sort_inputs_type,
	.outputs = run_evaluation_sort_outputs_type,
	.compute = compute_sort,
};
