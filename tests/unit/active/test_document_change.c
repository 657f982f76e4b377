/* Documents through the runtime, on the memory store and a system that takes one step at a time:
 * step() is one job's half, on its lane or back on the loop, so a test says what happens between
 * reading and committing.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "active/executor.h"
#include "active/notices.h"
#include "active/run_commands.h"
#include "effect/effects.h"
#include "base/limits.h"
#include "contract/event.h"
#include "contract/run_event_types.h"
#include "document/documents.h"
#include "document/server_settings.h"
#include "simstore/simstore.h"
#include "simstore/store_memory.h"
#include "tool/tool.h"

enum { JOBS = 64, ANSWERS = 1200, TOLD = 16384 };

struct answer {
	enum error_code code; /* NONE: good */
	char text[ERROR_TEXT_SIZE];
	int64_t revision;
	bool created, repeated, has_body;
	struct uuid subject;
	size_t problems;
};

static struct scene {
	struct platform system; /* first */
	struct job *queued[JOBS];
	size_t first, last;
	bool ran; /* the first of them, on its lane */
	int64_t now;
	struct store *store;
	struct store_reader *reader;
	struct effects *effects;
	struct executor *executor;
	struct documents *documents;
	struct arena arena;
	struct error error;
	struct answer answers[ANSWERS];
	size_t answered;
	/* Who watches. */
	char told[TOLD];
	size_t notices, failures;
} scene;

static int64_t steps_wall(struct platform *system)
{
	(void)system;
	return ++scene.now;
}

static void steps_submit(struct platform *system, enum platform_lane lane, struct job *job)
{
	(void)system;
	(void)lane;
	cr_assert_lt(scene.last - scene.first, JOBS);
	scene.queued[scene.last++ % JOBS] = job;
}

static unsigned steps_readers(struct platform *system)
{
	(void)system;
	return 1;
}

static const struct platform_ops steps_ops = { .wall_us = steps_wall,
					       .mono_us = steps_wall,
					       .submit = steps_submit,
					       .reader_threads = steps_readers };

static bool step(void)
{
	if (scene.first == scene.last)
		return false;
	struct job *job = scene.queued[scene.first % JOBS];
	scene.ran = !scene.ran;
	if (scene.ran) {
		job->run(job, 0);
	} else {
		scene.first++;
		job->done(job);
	}
	return true;
}

static void run(void)
{
	while (step())
		;
}

static void fatal(void *context, const struct error *error)
{
	(void)context;
	(void)error;
	scene.failures++;
}

static void open_runtime(void)
{
	static const struct tool_table no_tools;
	scene.effects = effects_new();
	const struct executor_settings settings = { .platform = &scene.system,
						    .store = scene.store,
						    .effects = scene.effects,
						    .tools = &no_tools,
						    .fatal = fatal };
	cr_assert(executor_new(&settings, &scene.executor, &scene.error));
	scene.documents = documents_new(scene.executor);
}

static void begin(void)
{
	const struct store_backend *backend = simstore_backend(S("memory"));
	memset(&scene, 0, sizeof(scene));
	scene.system.ops = &steps_ops;
	cr_assert(backend->open("", &scene.store, &scene.error));
	cr_assert(backend->open_reader(scene.store, &scene.reader, &scene.error));
	open_runtime();
}

static void end(void)
{
	documents_free(scene.documents);
	executor_free(scene.executor);
	effects_free(scene.effects);
	scene.store->backend->close_reader(scene.reader);
	scene.store->backend->close(scene.store);
	arena_done(&scene.arena);
}

TestSuite(documents, .init = begin, .fini = end);

/* ---- asking ------------------------------------------------------------------------------ */

static void replied(void *context, uint64_t argument, const struct executor_reply *reply)
{
	struct answer *answer = &scene.answers[argument];
	(void)context;
	cr_assert_lt(argument, ANSWERS);
	*answer =
		(struct answer){ .revision = reply->revision,
				 .created = reply->created,
				 .repeated = reply->repeated,
				 .has_body = reply->body.size > 0,
				 .subject = reply->run,
				 .problems = reply->problems == NULL ? 0 : reply->problems->count };
	if (reply->error != NULL) {
		answer->code = reply->error->code;
		snprintf(answer->text, sizeof(answer->text), "%s", reply->error->text);
	}
	scene.answered++;
	strcat(scene.told, reply->error == NULL ? "reply " : "refusal ");
}

static uint64_t asked;

static uint64_t ask_with(const char *name, int64_t revision, const char *body, const char *key,
			 const char *said)
{
	const struct documents_change change = { .kind = S("profile"),
						 .name = str_from_c(name),
						 .revision = revision,
						 .body = str_from_c(body),
						 .by = S("someone"),
						 .key = { str_from_c(key),
							  hash_of(str_from_c(said)) } };
	documents_change(scene.documents, &change, replied, NULL, asked);
	return asked++;
}

static uint64_t ask(const char *name, int64_t revision, const char *repo)
{
	struct str body =
		str_format(&scene.arena, "{\"name\": \"%s\", \"repo_root\": \"%s\"}", name, repo);
	return ask_with(name, revision, repo == NULL ? "" : str_c(&scene.arena, body), "", "");
}

static uint64_t ask_away(const char *name, int64_t revision)
{
	return ask_with(name, revision, "", "", "");
}

static const struct answer *answer_to(uint64_t number)
{
	run();
	return &scene.answers[number];
}

static size_t system_events(void)
{
	static const struct uuid zero;
	struct store_event_page page;
	cr_assert(scene.reader->ops->read_events(scene.reader, &zero, 0, 10000, &scene.arena, &page,
						 &scene.error));
	for (size_t i = 0; i < page.count; i++)
		cr_assert_eq(page.at[i].seq, (int64_t)i + 1);
	return page.count;
}

static struct str stored(const char *kind, const char *name)
{
	struct store_document document;
	bool found;
	cr_assert(scene.reader->ops->read_document(scene.reader, str_from_c(kind), str_from_c(name),
						   &scene.arena, &document, &found, &scene.error));
	return found ? document.body : S("");
}

static bool holds(struct str text, const char *part)
{
	size_t at;
	return str_find(text, str_from_c(part), &at);
}

/* ---- changes ------------------------------------------------------------------------------- */

Test(documents, a_change_is_stored_and_then_told)
{
	uint64_t first = ask("work", 0, "/one");
	cr_assert_eq(scene.answered, 0);
	const struct answer *answer = answer_to(first);
	cr_assert_eq(answer->code, ERROR_NONE, "%s", answer->text);
	cr_assert_eq(answer->revision, 1);
	cr_assert(answer->created && answer->has_body);
	cr_assert(holds(stored("profile", "work"), "/one"));
	cr_assert(holds(stored("settings", "settings"), "work"), "the first is the active one");
	cr_assert_eq(system_events(), 2);
	answer = answer_to(ask("work", 1, "/two"));
	cr_assert_eq(answer->revision, 2);
	cr_assert_not(answer->created);
	cr_assert_eq(system_events(), 3);
	/* Nothing new, nothing stored. */
	answer = answer_to(ask("work", 2, "/two"));
	cr_assert_eq(answer->code, ERROR_NONE);
	cr_assert_eq(answer->revision, 2);
	cr_assert_eq(system_events(), 3);
}

Test(documents, an_event_says_who_changed_what)
{
	static const struct uuid zero;
	struct store_event_page page;
	struct event event;
	answer_to(ask("work", 0, "/one"));
	cr_assert(scene.reader->ops->read_events(scene.reader, &zero, 0, 10, &scene.arena, &page,
						 &scene.error));
	cr_assert(event_read(page.at[0].type, page.at[0].at, page.at[0].body, &scene.arena, &event,
			     &scene.error));
	cr_assert_eq(event.type, EVENT_DOCUMENT_CHANGED);
	cr_assert(str_equal(event.as.run_document_changed->by, S("someone")));
	cr_assert(str_equal(event.as.run_document_changed->name, S("work")));
	cr_assert_eq(event.as.run_document_changed->revision, 1);
}

Test(documents, of_two_writers_one_is_late)
{
	answer_to(ask("work", 0, "/one"));
	uint64_t one = ask("work", 1, "/two"), two = ask("work", 1, "/three");
	cr_assert_eq(answer_to(one)->revision, 2);
	cr_assert_eq(answer_to(two)->code, ERROR_PRECONDITION_FAILED);
	cr_assert(holds(stored("profile", "work"), "/two"));
	uint64_t new_one = ask("play", 0, "/p"), new_two = ask("play", 0, "/q");
	cr_assert_eq(answer_to(new_one)->code, ERROR_NONE);
	cr_assert_eq(answer_to(new_two)->code, ERROR_CONFLICT);
}

Test(documents, refusals_come_with_their_problems)
{
	const struct answer *answer = answer_to(ask_with("p", 0, "{\"nam\": \"p\"}", "", ""));
	cr_assert_eq(answer->code, ERROR_INVALID);
	cr_assert_eq(answer->problems, 3);
	cr_assert_eq(answer_to(ask_away("p", -1))->code, ERROR_NOT_FOUND);
	cr_assert_eq(system_events(), 0);
}

Test(documents, revisions_go_on_behind_a_deletion)
{
	answer_to(ask("work", 0, "/one"));
	answer_to(ask("play", 0, "/one"));
	const struct answer *gone = answer_to(ask_away("play", 1));
	cr_assert_eq(gone->code, ERROR_NONE, "%s", gone->text);
	cr_assert_eq(gone->revision, 0);
	cr_assert_not(gone->has_body);
	const struct answer *again = answer_to(ask("play", 0, "/one"));
	cr_assert_eq(again->revision, 3, "got %lld", (long long)again->revision);
	cr_assert(again->created);
	cr_assert_eq(answer_to(ask("play", 1, "/two"))->code, ERROR_PRECONDITION_FAILED);
}

/* ---- the append is refused ------------------------------------------------------------------ */

/* Somebody else writes the stream between our reading and our commit. */
static void write_aside(int64_t seq, const char *name)
{
	struct str body =
		str_format(&scene.arena, "{\"name\":\"%s\",\"repo_root\":\"/aside\"}", name);
	const struct store_event event = { .type = S("document.changed"),
					   .body = S("{}"),
					   .at = 1 };
	const struct store_document document = { .kind = S("profile"),
						 .name = str_from_c(name),
						 .body = body };
	struct store_append append = { .expected_seq = seq,
				       .run = { .name = S("system"), .summary = S("{}") },
				       .events = &event,
				       .event_count = 1,
				       .documents = &document,
				       .document_count = 1 };
	struct store_append *appends[] = { &append };
	cr_assert(scene.store->writer->commit(scene.store, appends, 1, &scene.error));
	cr_assert_eq(append.outcome, STORE_COMMITTED);
}

Test(documents, what_was_read_too_early_is_decided_again)
{
	answer_to(ask("work", 0, "/one"));
	uint64_t number = ask("play", 0, "/two");
	step(); /* read and decided */
	step(); /* on its way to the writer */
	write_aside(2, "other");
	const struct answer *answer = answer_to(number);
	cr_assert_eq(answer->code, ERROR_NONE, "%s", answer->text);
	cr_assert_eq(system_events(), 4);
	/* What it meets now may be a refusal. */
	number = ask("new", 0, "/two");
	step();
	step();
	write_aside(4, "new");
	cr_assert_eq(answer_to(number)->code, ERROR_CONFLICT);
	cr_assert(holds(stored("profile", "new"), "/aside"));
}

Test(documents, a_stream_that_is_always_elsewhere_is_given_up)
{
	answer_to(ask("work", 0, "/one"));
	uint64_t number = ask("play", 0, "/two");
	for (int64_t i = 0; i < LIMIT_DOCUMENT_TRIES; i++) {
		step();
		step();
		write_aside(2 + i, str_format(&scene.arena, "n%lld", (long long)i).at);
		step();
		step();
	}
	cr_assert_eq(scene.answered, 2);
	cr_assert_eq(answer_to(number)->code, ERROR_CONFLICT);
	cr_assert_eq(answer_to(ask("play", 0, "/two"))->code, ERROR_NONE, "the next one goes on");
}

Test(documents, without_room_nothing_is_changed)
{
	answer_to(ask("work", 0, "/one"));
	store_memory_fill(scene.store, true);
	cr_assert_eq(answer_to(ask("work", 1, "/two"))->code, ERROR_STORAGE_FULL);
	store_memory_fill(scene.store, false);
	cr_assert_eq(answer_to(ask("work", 1, "/two"))->revision, 2);
}

Test(documents, a_failed_store_acknowledges_nothing)
{
	store_memory_fail_after(scene.store, 1);
	ask("work", 0, "/one");
	ask("play", 0, "/one");
	run();
	cr_assert_eq(scene.answered, 0);
	cr_assert_eq(scene.failures, 1);
}

/* ---- idempotency ---------------------------------------------------------------------------- */

Test(documents, the_same_key_does_nothing_twice)
{
	const char *body = "{\"name\": \"work\", \"repo_root\": \"/one\"}";
	cr_assert_not(answer_to(ask_with("work", 0, body, "k", "words"))->repeated);
	const struct answer *again = answer_to(ask_with("work", 0, body, "k", "words"));
	cr_assert_eq(again->code, ERROR_NONE, "%s", again->text);
	cr_assert(again->repeated);
	const struct str parts[] = { S("profile"), S("work") };
	struct uuid subject = uuid_derive(parts, COUNT(parts));
	cr_assert(uuid_equal(&again->subject, &subject));
	cr_assert_eq(system_events(), 2);
	cr_assert_eq(answer_to(ask_with("work", -1, body, "k", "others"))->code, ERROR_CONFLICT);
	/* Across a restart too. */
	documents_free(scene.documents);
	executor_free(scene.executor);
	effects_free(scene.effects);
	open_runtime();
	cr_assert(answer_to(ask_with("work", 0, body, "k", "words"))->repeated);
	cr_assert_eq(system_events(), 2);
}

/* ---- several at once ------------------------------------------------------------------------ */

struct composing {
	size_t calls;
	bool refuse, empty;
};

static bool compose(void *context, struct store_reader *reader, struct arena *arena,
		    struct documents_changes *out_changes, struct problems *problems,
		    struct error *error)
{
	struct composing *composing = context;
	struct store_document_page page;
	composing->calls++;
	if (composing->refuse) {
		problems_add(problems, S("/x"), 0, 0, "no");
		return problems_fail(problems, error);
	}
	if (composing->empty)
		return true;
	if (!reader->ops->list_documents(reader, S("profile"), S(""), 100, arena, &page, error))
		return false;
	/* One more than there are. */
	struct documents_change *change = arena_new(arena, struct documents_change);
	change->kind = S("profile");
	change->name = str_format(arena, "p%zu", page.count);
	change->body = str_format(arena, "{\"name\": \"p%zu\", \"repo_root\": \"/\"}", page.count);
	*out_changes = (struct documents_changes){ change, 1 };
	return true;
}

static uint64_t ask_composed(struct composing *composing)
{
	const struct documents_composition how = { .compose = compose,
						   .context = composing,
						   .by = S("someone"),
						   .key = { .key = S("") } };
	documents_change_composed(scene.documents, &how, replied, NULL, asked);
	return asked++;
}

Test(documents, changes_are_worked_out_from_what_is_there)
{
	struct composing one = { 0 }, two = { 0 }, refused = { .refuse = true },
			 empty = { .empty = true };
	uint64_t first = ask_composed(&one), second = ask_composed(&two);
	cr_assert_eq(answer_to(first)->code, ERROR_NONE);
	cr_assert_eq(answer_to(second)->code, ERROR_NONE, "%s", scene.answers[second].text);
	cr_assert(stored("profile", "p0").size > 0 && stored("profile", "p1").size > 0);
	first = ask_composed(&one);
	step();
	step();
	write_aside(3, "other");
	cr_assert_eq(answer_to(first)->code, ERROR_NONE);
	cr_assert_eq(one.calls, 3, "once more after the refusal");
	cr_assert_gt(stored("profile", "p3").size, 0);
	cr_assert_eq(answer_to(ask_composed(&refused))->problems, 1);
	cr_assert_eq(answer_to(ask_composed(&empty))->code, ERROR_NONE);
}

/* ---- watching ------------------------------------------------------------------------------- */

static void changed(void *context, const struct watched_document *document)
{
	size_t used = strlen(scene.told);
	snprintf(scene.told + used, sizeof(scene.told) - used, "%s" STR_FMT "%s ",
		 (const char *)context, STR_ARG(document->name),
		 document->body.size == 0 ? " gone" : "");
}

static void loaded(void *context, uint64_t count)
{
	size_t used = strlen(scene.told);
	snprintf(scene.told + used, sizeof(scene.told) - used, "%sloaded %d ",
		 (const char *)context, (int)count);
}

static void noticed(void *context, uint64_t argument, const struct executor_notice *notice)
{
	(void)context;
	(void)argument;
	cr_assert(uuid_is_zero(&notice->run));
	cr_assert_gt(notice->position, 0);
	scene.notices++;
}

Test(documents, who_watches_is_told_before_who_asked)
{
	static char first[] = "1:", second[] = "2:";
	static const struct uuid every;
	ask("a", 0, "/");
	ask("b", 0, "/");
	documents_watch(scene.documents, S("profile"), changed, loaded, first);
	documents_watch(scene.documents, S("profile"), changed, loaded, second);
	uint64_t watch = executor_watch(scene.executor, &every, noticed, NULL, 0);
	ask("c", 0, "/");
	ask_away("b", -1);
	ask_away("b", -1);
	run();
	cr_assert_str_eq(scene.told, "reply reply 1:a 1:b 1:loaded 2 2:a 2:b 2:loaded 2 "
				     "1:c 2:c reply 1:b gone 2:b gone reply refusal ");
	cr_assert_eq(scene.notices, 4);
	executor_unwatch(scene.executor, watch);
}

static void opened(void *context, uint64_t count)
{
	(void)count;
	*(bool *)context = true;
}

Test(documents, the_servers_settings_are_known_and_followed)
{
	bool known = false;
	const struct documents_change change = {
		.kind = S("server"),
		.name = S("server"),
		.revision = -1,
		.body = S("{\"log_retention_days\": 7, "
			  "\"websocket_idle_timeout_seconds\": 1.5}"),
		.by = S("someone"),
		.key = { .key = S("") }
	};
	server_settings_open(scene.documents, opened, &known);
	run();
	cr_assert(known);
	cr_assert_eq(server_settings_stored(scene.documents).log_retention_days, 0);
	documents_change(scene.documents, &change, replied, NULL, asked);
	cr_assert_eq(answer_to(asked++)->code, ERROR_NONE);
	cr_assert_eq(server_settings_stored(scene.documents).log_retention_days, 7);
	cr_assert_eq(server_settings_stored(scene.documents).websocket_idle_us, 1500000);
	cr_assert_eq(server_settings_stored(scene.documents).max_concurrent, 0);
	/* The next start knows them too. */
	known = false;
	documents_free(scene.documents);
	executor_free(scene.executor);
	effects_free(scene.effects);
	open_runtime();
	server_settings_open(scene.documents, opened, &known);
	run();
	cr_assert(known);
	cr_assert_eq(server_settings_stored(scene.documents).log_retention_days, 7);
}

/* ---- limits --------------------------------------------------------------------------------- */

Test(documents, the_queue_has_an_end)
{
	for (int i = 0; i < LIMIT_DOCUMENT_QUEUE; i++)
		ask("work", -1, "/one");
	cr_assert_eq(scene.answered, 0);
	uint64_t over = ask("work", -1, "/two");
	cr_assert_eq(scene.answered, 1);
	cr_assert_eq(scene.answers[over].code, ERROR_UNAVAILABLE);
	run();
	cr_assert_eq(scene.answered, LIMIT_DOCUMENT_QUEUE + 1);
	cr_assert_eq(system_events(), 2);
}

struct many {
	size_t from;
};

static bool compose_many(void *context, struct store_reader *reader, struct arena *arena,
			 struct documents_changes *out_changes, struct problems *problems,
			 struct error *error)
{
	const struct many *many = context;
	struct documents_change *changes =
		arena_array(arena, struct documents_change, LIMIT_DOCUMENT_CHANGES);
	(void)reader;
	(void)problems;
	(void)error;
	for (size_t i = 0; i < LIMIT_DOCUMENT_CHANGES; i++) {
		changes[i].kind = S("profile");
		changes[i].name = str_format(arena, "p%zu", many->from + i);
		changes[i].body = str_format(arena, "{\"name\": \"p%zu\", \"repo_root\": \"/\"}",
					     many->from + i);
	}
	*out_changes = (struct documents_changes){ changes, LIMIT_DOCUMENT_CHANGES };
	return true;
}

Test(documents, of_one_kind_there_are_only_so_many)
{
	struct many many = { 0 };
	const struct documents_composition how = { .compose = compose_many,
						   .context = &many,
						   .by = S("someone"),
						   .key = { .key = S("") } };
	for (; many.from < LIMIT_DOCUMENTS; many.from += LIMIT_DOCUMENT_CHANGES) {
		documents_change_composed(scene.documents, &how, replied, NULL, asked);
		cr_assert_eq(answer_to(asked)->code, ERROR_NONE, "%s", scene.answers[asked].text);
		asked++;
	}
	cr_assert_eq(answer_to(ask("one more", 0, "/"))->code, ERROR_TOO_LARGE);
	cr_assert_eq(answer_to(ask_away("p7", -1))->code, ERROR_NONE);
	cr_assert_eq(answer_to(ask("one more", 0, "/"))->code, ERROR_NONE);
}
