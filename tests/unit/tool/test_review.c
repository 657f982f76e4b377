/* review_merge and evaluation_sort. */
#include "tool_rig.h"

static struct rig the_rig, *rig = &the_rig;

static void setup(void)
{
	rig_open(rig);
}

static void teardown(void)
{
	rig_close(rig);
}

TestSuite(review, .init = setup, .fini = teardown);
TestSuite(evaluation, .init = setup, .fini = teardown);

static const struct json *merged(const char *reviews)
{
	const struct json *json;
	struct error error;
	struct str inputs = str_format(&rig->arena, "{\"reviews\": %s}", reviews);
	struct str text = rig_compute(rig, "review_merge", str_c(&rig->arena, inputs));
	cr_assert(text.size > 0, "%s", rig->error.text);
	cr_assert(json_read(text, &rig->arena, &json, &error));
	return json;
}

static void expect_verdict(const char *reviews, bool approved, bool empty, const char *status)
{
	const struct json *json = merged(reviews);
	cr_expect_eq(json_member(json, S("approved"))->as.boolean, approved, "%s", reviews);
	cr_expect_eq(json_member(json, S("empty"))->as.boolean, empty, "%s", reviews);
	cr_expect(str_equal(json_text(json_member(json, S("status"))), str_from_c(status)), "%s",
		  reviews);
}

Test(review, an_empty_review_approves_nothing)
{
	expect_verdict("[]", false, true, "changes_requested");
	expect_verdict("[{}]", false, true, "changes_requested");
	expect_verdict("[{\"comments\": [], \"severity\": \"none\"}]", false, true,
		       "changes_requested");
	expect_verdict("[{\"approved\": true}, {\"reviewer_persona\": \"B\"}]", false, true,
		       "changes_requested");
	expect_verdict("[{\"approved\": null, \"comments\": null}]", false, true,
		       "changes_requested");
	/* Comments without a verdict say something, but do not approve. */
	expect_verdict("[{\"comments\": [\"good\"]}]", false, false, "changes_requested");
}

Test(review, all_must_approve_and_the_worst_severity_counts)
{
	expect_verdict("[{\"approved\": true, \"comments\": [], \"severity\": \"none\"}]", true,
		       false, "approved");
	expect_verdict("[{\"approved\": true}, {\"approved\": true}]", true, false, "approved");
	expect_verdict("[{\"approved\": true}, {\"approved\": false, \"severity\": \"major\"}]",
		       false, false, "changes_requested");
	expect_verdict("[{\"approved\": false, \"severity\": \"critical\"}]", false, false,
		       "rejected");
	expect_json(
		rig_compute(
			rig, "review_merge",
			"{\"reviews\": [{\"reviewer_persona\": \"A\", \"approved\": true, "
			"\"comments\": [\"x\"], \"severity\": \"minor\"}, {\"approved\": false, "
			"\"comments\": [\"y\"], \"severity\": \"major\"}]}"),
		"{\"reviewer_persona\":\"A, Reviewer 2\",\"approved\":false,\"comments\":[\"A: x\","
		"\"Reviewer 2: y\"],\"severity\":\"major\",\"reviews\":[{\"reviewer_persona\":\"A\","
		"\"approved\":true,\"comments\":[\"x\"],\"severity\":\"minor\"},"
		"{\"reviewer_persona\":\"Reviewer 2\",\"approved\":false,\"comments\":[\"y\"],"
		"\"severity\":\"major\"}],\"empty\":false,\"status\":\"changes_requested\","
		"\"summary\":\"1 of 2 reviewers approve\"}");
	cr_assert_eq(rig_compute(rig, "review_merge", "{}").size, 0);
	cr_assert_eq(rig->error.code, ERROR_INVALID);
}

#define ITEM(number, word)                                                                \
	"{\"number\": " #number ", \"title\": \"t\", \"file_path\": \"a\", \"line\": 1, " \
	"\"disposition\": \"" word "\", \"reason\": \"r\", \"original_issue\": \"o\", "   \
	"\"suggested_fix\": \"f\"}"
#define ITEMS                                                                 \
	"\"items\": [" ITEM(1, "implement") ", " ITEM(2, "reject") ", " ITEM( \
		3, "defer") ", " ITEM(4, "clarify") ", " ITEM(5, "implement") "]"

static const struct json *sorted(const char *inputs)
{
	const struct json *json;
	struct error error;
	struct str text = rig_compute(rig, "evaluation_sort", inputs);
	cr_assert(text.size > 0, "%s", rig->error.text);
	cr_assert(json_read(text, &rig->arena, &json, &error));
	return json;
}

static void expect_numbers(const struct json *list, const char *numbers)
{
	AUTO(buf) text = { 0 };
	for (size_t i = 0; json_item(list, i) != NULL; i++)
		buf_add_format(&text, "%lld ",
			       (long long)json_member(json_item(list, i), S("number"))->as.integer);
	cr_expect(str_equal(buf_str(&text), str_from_c(numbers)), "%.*s", (int)text.size,
		  text.size > 0 ? text.at : "");
}

Test(evaluation, items_are_sorted_and_the_chosen_ones_are_fixed)
{
	const struct json *all = sorted("{" ITEMS "}");
	const struct json *result = json_member(all, S("result"));
	expect_numbers(json_member(result, S("items_to_implement")), "1 5 ");
	expect_numbers(json_member(result, S("items_rejected")), "2 ");
	expect_numbers(json_member(result, S("items_deferred")), "3 ");
	expect_numbers(json_member(result, S("items_needing_clarification")), "4 ");
	expect_numbers(json_member(all, S("to_fix")), "1 5 ");
	expect_numbers(json_member(all, S("to_clarify")), "4 ");
	cr_expect(str_equal(json_text(json_member(result, S("summary"))),
			    S("2 to implement, 1 rejected, 1 deferred, 1 to clarify")));
	const struct json *chosen = sorted("{" ITEMS ", \"approved_items\": [5, 2, 9]}");
	expect_numbers(json_member(chosen, S("to_fix")), "5 ");
	cr_expect_eq(json_member(chosen, S("count"))->as.integer, 1);
	expect_numbers(json_member(json_member(chosen, S("result")), S("items_to_implement")),
		       "1 5 ");
	expect_numbers(json_member(sorted("{" ITEMS ", \"approved_items\": []}"), S("to_fix")), "");
	cr_assert_eq(rig_compute(rig, "evaluation_sort", "{\"items\": [{\"number\": 1}]}").size, 0);
	cr_assert_eq(rig->error.code, ERROR_INVALID);
}
