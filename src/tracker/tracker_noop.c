/* tracker/tracker_noop.c -- no tracker: every issue is a placeholder, and nothing can be changed. */
#include "tracker/tracker.h"

static bool locate(struct tracker_exchange *exchange, struct error *error)
{
	(void)error;
	exchange->subject = S("this profile");
	return true;
}

static bool next_move(struct tracker_exchange *exchange, struct tracker_move *out_move,
		      struct error *error)
{
	struct arena *arena = exchange->arena;
	if (exchange->request->operation == TRACKER_ISSUE_LIST) {
		struct run_issue_page *page = run_issue_page_new(arena);
		SET(page, items, ((struct run_issue_list){ 0 }));
		SET(page, tracker, PIPELINE_PROFILE_TRACKER_NOOP);
		return tracker_end(run_issue_page_tree(page, arena), out_move);
	}
	if (exchange->request->operation != TRACKER_ISSUE_READ)
		return fail(error, ERROR_CONFIGURATION,
			    "no tracker is configured; set tracker in the profile (baton profile "
			    "edit)");
	struct run_issue *issue = run_issue_new(arena);
	SET(issue, id, exchange->request->id);
	SET(issue, title, S("Placeholder Issue"));
	SET(issue, description, S("Tracker not configured"));
	SET(issue, tracker, PIPELINE_PROFILE_TRACKER_NOOP);
	return tracker_end(run_issue_tree(issue, arena), out_move);
}

const struct tracker tracker_noop = { .name = "noop", .locate = locate, .next_move = next_move };
