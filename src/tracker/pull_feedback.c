/* tracker/pull_feedback.c -- gathers what reviewers and checks say about a pull request. */
#include "tracker/pull_feedback.h"

#include "base/limits.h"
#include "contract/run_tracker_types.h"
#include "tracker/tracker.h"

struct review_decision {
	struct str reviewer, state;
};

struct pull_feedback *pull_feedback_new(struct arena *arena)
{
	struct pull_feedback *feedback = arena_new(arena, struct pull_feedback);
	feedback->comments = arena_array(arena, struct pull_comment, LIMIT_TRACKER_COMMENTS);
	feedback->checks = arena_array(arena, struct pull_check, LIMIT_TRACKER_COMMENTS);
	feedback->decisions = arena_array(arena, struct review_decision, LIMIT_TRACKER_COMMENTS);
	return feedback;
}

/* The text as far as there is room for it. */
static struct str take_text(struct pull_feedback *feedback, struct str text)
{
	bool truncated;
	text = tracker_shorten(text, LIMIT_TRACKER_TEXT_BYTES - feedback->bytes, &truncated);
	feedback->bytes += text.size;
	feedback->truncated |= truncated;
	return text;
}

void pull_feedback_comment(struct pull_feedback *feedback, const struct pull_comment *comment)
{
	if (str_trim(comment->text).size == 0)
		return;
	if (feedback->comment_count == LIMIT_TRACKER_COMMENTS) {
		feedback->truncated = true;
		return;
	}
	struct pull_comment *kept = &feedback->comments[feedback->comment_count++];
	*kept = *comment;
	kept->text = take_text(feedback, comment->text);
}

void pull_feedback_check(struct pull_feedback *feedback, const struct pull_check *check)
{
	if (feedback->check_count == LIMIT_TRACKER_COMMENTS) {
		feedback->truncated = true;
		return;
	}
	struct pull_check *kept = &feedback->checks[feedback->check_count++];
	*kept = *check;
	kept->summary = take_text(feedback, check->summary);
}

void pull_feedback_decide(struct pull_feedback *feedback, struct str reviewer, struct str state,
			  struct arena *arena)
{
	size_t i = 0;
	if (!str_equal(state, S("APPROVED")) && !str_equal(state, S("CHANGES_REQUESTED")) &&
	    !str_equal(state, S("DISMISSED")))
		return;
	while (i < feedback->decision_count &&
	       !str_equal(feedback->decisions[i].reviewer, reviewer))
		i++;
	if (i == LIMIT_TRACKER_COMMENTS)
		return;
	feedback->decisions[i] =
		(struct review_decision){ str_copy(arena, reviewer), str_copy(arena, state) };
	if (i == feedback->decision_count)
		feedback->decision_count++;
}

/* One who wants changes counts more than all who approve. */
static struct str decision_of(const struct pull_feedback *feedback)
{
	struct str decision = S("none");
	for (size_t i = 0; i < feedback->decision_count; i++) {
		if (str_equal(feedback->decisions[i].state, S("CHANGES_REQUESTED")))
			return S("changes_requested");
		if (str_equal(feedback->decisions[i].state, S("APPROVED")))
			decision = S("approved");
	}
	return decision;
}

const struct json *pull_feedback_output(const struct pull_feedback *feedback, struct arena *arena)
{
	struct run_pull_request_feedback *out = run_pull_request_feedback_new(arena);
	struct run_review_comment *comments =
		arena_array(arena, struct run_review_comment, feedback->comment_count);
	struct run_failed_check *checks =
		arena_array(arena, struct run_failed_check, feedback->check_count);
	for (size_t i = 0; i < feedback->comment_count; i++) {
		const struct pull_comment *from = &feedback->comments[i];
		comments[i] = *run_review_comment_new(arena);
		SET(&comments[i], author, from->author);
		SET(&comments[i], text, from->text);
		SET(&comments[i], url, from->url);
		if (from->path.size > 0)
			SET(&comments[i], path, from->path);
		if (from->line > 0)
			SET(&comments[i], line, from->line);
	}
	for (size_t i = 0; i < feedback->check_count; i++) {
		const struct pull_check *from = &feedback->checks[i];
		checks[i] = *run_failed_check_new(arena);
		SET(&checks[i], name, from->name);
		SET(&checks[i], outcome, from->outcome);
		SET(&checks[i], summary, from->summary);
		SET(&checks[i], url, from->url);
	}
	SET(out, number, feedback->number);
	SET(out, status, feedback->status);
	SET(out, decision, decision_of(feedback));
	SET(out, comments, ((struct run_review_comment_list){ comments, feedback->comment_count }));
	SET(out, failed_checks, ((struct run_failed_check_list){ checks, feedback->check_count }));
	SET(out, pending_checks, feedback->pending);
	SET(out, truncated, feedback->truncated);
	SET(out, url, feedback->url);
	return run_pull_request_feedback_tree(out, arena);
}
