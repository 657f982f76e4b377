/* What a webhook reports: from a stored event to a payload, and the filters. */
#include <criterion/criterion.h>

#include "contract/run_start_types.h"
#include "notify/webhook_payload.h"

static struct run_created created;
static struct arena arena;

static struct webhook_source source(bool parent, bool delivery)
{
	static struct str_entry labels[] = { { { "env", 3 }, { "prod", 4 } },
					     { { "delivery", 8 }, { "x", 1 } } };
	created = *run_created_new(&arena);
	SET(&created, name, S("build"));
	SET(&created, labels, ((struct str_map){ labels, delivery ? 2 : 1 }));
	SET(&created, profile, S("night"));
	if (parent)
		SET(&created, parent, ((struct uuid){ { 7 } }));
	return (struct webhook_source){
		.id = { { 1 } }, .created_at = 5, .created = &created, .is_delivery = delivery
	};
}

static const struct run_webhook_payload *make(const struct webhook_source *from, const char *type,
					      const char *body)
{
	const struct store_event_row row = { .run = from->id,
					     .seq = 3,
					     .position = 9,
					     .at = 8,
					     .type = str_from_c(type),
					     .body = str_from_c(body) };
	cr_assert(webhook_payload_wants(&row));
	return webhook_payload_make(&row, from, S("https://b"), &arena);
}

Test(webhook_payload, the_end_of_a_run)
{
	struct webhook_source from = source(false, false);
	const struct run_webhook_payload *payload = make(
		&from, "run.finished",
		"{\"outcome\": \"failed\", \"fault\": {\"code\": \"io\", \"text\": \"no room\"}}");
	cr_assert_not_null(payload);
	cr_expect_eq(payload->event, RUN_WEBHOOK_EVENT_FAILED);
	cr_expect(str_equal(payload->text, S("build failed: no room")));
	cr_expect(str_equal(payload->error, S("no room")));
	cr_expect(str_equal(payload->run->link,
			    S("https://b/ui/runs/01000000-0000-0000-0000-000000000000")));
	cr_expect(has(payload->run, ended_at) && payload->run->ended_at == 8);
	payload = make(&from, "run.finished", "{\"outcome\": \"ok\"}");
	cr_expect_eq(payload->event, RUN_WEBHOOK_EVENT_SUCCEEDED);
	payload = make(&from, "run.finished", "{\"outcome\": \"cancelled\"}");
	cr_expect_eq(payload->event, RUN_WEBHOOK_EVENT_CANCELLED);
}

Test(webhook_payload, sub_runs_deliveries_and_unreadable_events_are_not_reported)
{
	struct webhook_source child = source(true, false);
	cr_expect_null(make(&child, "run.finished", "{\"outcome\": \"ok\"}"));
	struct webhook_source delivery = source(false, true);
	cr_expect_null(make(&delivery, "run.finished", "{\"outcome\": \"ok\"}"));
	struct webhook_source from = source(false, false);
	cr_expect_null(make(&from, "run.finished", "{\"outcome\": "));
	from.created = NULL;
	cr_expect_null(make(&from, "run.finished", "{\"outcome\": \"ok\"}"));
	const struct store_event_row other = { .type = S("tool.finished") };
	cr_expect_not(webhook_payload_wants(&other));
}

static struct run_stored_webhook *webhook_of(enum run_webhook_event event)
{
	struct run_stored_webhook *webhook = run_stored_webhook_new(&arena);
	enum run_webhook_event *events = arena_copy(&arena, &event, sizeof(event));
	SET(webhook, name, S("w"));
	SET(webhook, events, ((struct run_webhook_event_list){ events, 1 }));
	return webhook;
}

Test(webhook_payload, filters)
{
	static struct str workflows[] = { { "deploy", 6 }, { "build", 5 } };
	static struct str profiles[] = { { "day", 3 } };
	static struct str_entry prod = { { "env", 3 }, { "prod", 4 } };
	static struct str_entry test = { { "env", 3 }, { "test", 4 } };
	struct webhook_source from = source(false, false);
	const struct run_webhook_payload *payload =
		make(&from, "run.finished", "{\"outcome\": \"ok\"}");
	struct run_stored_webhook *webhook = webhook_of(RUN_WEBHOOK_EVENT_SUCCEEDED);
	cr_expect(webhook_payload_matches(webhook, payload));
	cr_expect_not(webhook_payload_matches(webhook_of(RUN_WEBHOOK_EVENT_FAILED), payload));
	SET(webhook, workflows, ((struct str_list){ workflows, 2 }));
	SET(webhook, labels, ((struct str_map){ &prod, 1 }));
	cr_expect(webhook_payload_matches(webhook, payload));
	SET(webhook, workflows, ((struct str_list){ workflows, 1 }));
	cr_expect_not(webhook_payload_matches(webhook, payload));
	webhook = webhook_of(RUN_WEBHOOK_EVENT_SUCCEEDED);
	SET(webhook, labels, ((struct str_map){ &test, 1 }));
	cr_expect_not(webhook_payload_matches(webhook, payload));
	webhook = webhook_of(RUN_WEBHOOK_EVENT_SUCCEEDED);
	SET(webhook, profiles, ((struct str_list){ profiles, 1 }));
	cr_expect_not(webhook_payload_matches(webhook, payload));
}
