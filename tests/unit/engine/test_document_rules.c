/* Changes of documents: revisions, bodies, the rules between them, and the events that come of it.
 *
 * The world is a small table that shows a document only when it was asked for as a need, so that
 * every decision also proves that it names what it has to see.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "contract/run_event_types.h"
#include "engine/document_rules.h"

enum { ROOM = 600 };

static struct world {
	struct arena arena;
	struct document_state documents[ROOM];
	bool shown[ROOM];
	size_t count, asked;
	struct document_decision decision;
	struct error error;
} world;

static void begin(void)
{
	memset(&world, 0, sizeof(world));
}

static void end(void)
{
	arena_done(&world.arena);
}

TestSuite(system, .init = begin, .fini = end);

static struct document_state *document_at(enum document_kind kind, struct str name)
{
	for (size_t i = 0; i < world.count; i++)
		if (world.documents[i].kind == kind && str_equal(world.documents[i].name, name))
			return &world.documents[i];
	cr_assert_lt(world.count, ROOM);
	world.documents[world.count] =
		(struct document_state){ kind, str_copy(&world.arena, name), 0, S("") };
	return &world.documents[world.count++];
}

static const struct document_state *look(void *context, enum document_kind kind, struct str name)
{
	(void)context;
	for (size_t i = 0; i < world.count; i++)
		if (world.documents[i].kind == kind && str_equal(world.documents[i].name, name))
			return world.shown[i] ? &world.documents[i] : NULL;
	return NULL;
}

/* Asks until nothing is needed; true when it was decided. */
static bool decide_all(const struct document_command *command)
{
	const struct document_view view = { look, NULL };
	enum engine_answer answer = ENGINE_NEED;
	memset(world.shown, 0, sizeof(world.shown));
	for (int tries = 0; tries < 4; tries++) {
		world.decision = (struct document_decision){ .arena = &world.arena };
		if (!document_decide(command, &view, &world.decision, &answer, &world.error))
			return false;
		if (answer == ENGINE_DONE)
			return true;
		cr_assert_eq(world.decision.event_count, 0, "nothing is made on a guess");
		for (size_t i = 0; i < world.decision.need_count; i++) {
			const struct document_need *need = &world.decision.needs[i];
			world.shown[document_at(need->kind, need->name) - world.documents] = true;
			world.asked++;
		}
	}
	cr_assert_fail("it asks for ever");
	return false;
}

/* What the decision gave is the world from now on. */
static void store(void)
{
	for (size_t i = 0; i < world.decision.result_count; i++) {
		const struct document_result *result = &world.decision.results[i];
		struct document_state *document = document_at(result->kind, result->name);
		if (!result->changed)
			continue;
		cr_assert_eq(result->before, document->body.size > 0 ? document->revision : 0);
		cr_assert_eq(result->revision, document->revision + 1);
		document->revision = result->revision;
		document->body = result->body;
	}
}

static struct document_change change_of(const char *kind, const char *name, int64_t revision,
					const char *body)
{
	return (struct document_change){ str_from_c(kind), str_from_c(name), revision,
					 str_from_c(body) };
}

static void change(const char *kind, const char *name, int64_t revision, const char *body)
{
	const struct document_change one = change_of(kind, name, revision, body);
	const struct document_command command = { 1000, S("someone"), &one, 1 };
	cr_assert(decide_all(&command), "%s", world.error.text);
	store();
}

static void refused(const char *kind, const char *name, int64_t revision, const char *body,
		    enum error_code code, const char *text)
{
	const struct document_change one = change_of(kind, name, revision, body);
	const struct document_command command = { 1000, S("someone"), &one, 1 };
	cr_assert_not(decide_all(&command));
	cr_assert_eq(world.error.code, code, "%s", world.error.text);
	cr_assert_not_null(strstr(world.error.text, text), "%s", world.error.text);
}

static void profile(const char *name, int64_t revision)
{
	char body[200];
	snprintf(body, sizeof(body), "{\"name\": \"%s\", \"repo_root\": \"/r\"}", name);
	change("profile", name, revision, body);
}

static const struct run_document_changed *event(size_t index)
{
	cr_assert_lt(index, world.decision.event_count);
	cr_assert_eq(world.decision.events[index].type, EVENT_DOCUMENT_CHANGED);
	return world.decision.events[index].as.run_document_changed;
}

static const char *active(void)
{
	return str_c(&world.arena, document_at(DOCUMENT_SETTINGS, S("settings"))->body);
}

/* ---- one document ---------------------------------------------------------------------- */

Test(system, a_change_is_one_event_with_who_and_what)
{
	profile("work", 0);
	cr_assert_eq(world.decision.event_count, 2, "the profile, and that it is the active one");
	const struct run_document_changed *made = event(0);
	cr_assert(str_equal(made->kind, S("profile")));
	cr_assert(str_equal(made->name, S("work")));
	cr_assert(str_equal(made->by, S("someone")));
	cr_assert_eq(made->revision, 1);
	cr_assert(has(made, body));
	cr_assert_eq(world.decision.events[0].at, 1000);
	/* What is stored has every default in it, and reads back to itself. */
	struct str stored = document_at(DOCUMENT_PROFILE, S("work"))->body;
	cr_assert(str_equal(json_print(&world.arena, made->body), stored));
	size_t at;
	cr_assert(str_find(stored, S("\"plan_output_dir\":\"docs/plans\""), &at));
}

Test(system, revisions_count_on_through_a_deletion)
{
	profile("work", 0);
	profile("play", 0);
	change("profile", "play", 1, "");
	cr_assert_eq(event(0)->revision, 2);
	cr_assert_not(has(event(0), body));
	profile("play", 0);
	cr_assert_eq(event(0)->revision, 3);
	refused("profile", "play", 1, "{\"name\": \"play\", \"repo_root\": \"/x\"}",
		ERROR_PRECONDITION_FAILED, "is at revision 3, not 1");
}

Test(system, expected_revisions_are_kept_to)
{
	const char *body = "{\"name\": \"work\", \"repo_root\": \"/x\"}";
	profile("work", 0);
	refused("profile", "work", 0, body, ERROR_CONFLICT, "already a profile called work");
	refused("profile", "work", 2, body, ERROR_PRECONDITION_FAILED, "revision 1, not 2");
	refused("profile", "gone", 2, "{\"name\": \"gone\", \"repo_root\": \"/x\"}",
		ERROR_PRECONDITION_FAILED, "no profile called gone");
	refused("profile", "gone", DOCUMENT_SOME_REVISION,
		"{\"name\": \"gone\", \"repo_root\": \"/x\"}", ERROR_PRECONDITION_FAILED,
		"no profile called gone");
	change("profile", "work", DOCUMENT_SOME_REVISION,
	       "{\"name\": \"work\", \"repo_root\": \"/r\"}");
	cr_assert_eq(world.decision.event_count, 0);
	refused("profile", "gone", DOCUMENT_ANY_REVISION, "", ERROR_NOT_FOUND, "called gone");
	change("profile", "work", 1, body);
	cr_assert_eq(event(0)->revision, 2);
	cr_assert_eq(world.decision.event_count, 1);
	change("profile", "work", DOCUMENT_ANY_REVISION,
	       "{\"name\": \"work\", \"repo_root\": \"/y\"}");
	cr_assert_eq(event(0)->revision, 3);
}

Test(system, what_stays_as_it_is_makes_no_event)
{
	profile("work", 0);
	profile("work", 1);
	cr_assert_eq(world.decision.event_count, 0);
	cr_assert_eq(world.decision.results[0].revision, 1);
	cr_assert_not(world.decision.results[0].changed);
}

Test(system, an_old_shape_is_stored_as_a_new_one)
{
	change("profile", "old", 0,
	       "{\"name\": \"old\", \"driver\": \"cli\", \"tracker\": \"none\", "
	       "\"working_dir\": \"/w\"}");
	struct str stored = document_at(DOCUMENT_PROFILE, S("old"))->body;
	size_t at;
	cr_assert(str_find(stored, S("\"repo_root\":\"/w\""), &at));
	cr_assert(str_find(stored, S("\"tracker\":\"noop\""), &at));
	cr_assert_not(str_find(stored, S("working_dir"), &at));
}

Test(system, a_bad_body_has_all_its_problems)
{
	refused("profile", "p", 0, "{\"name\": \"p\", \"repo_rot\": \"/r\", \"tracker\": \"git\"}",
		ERROR_INVALID, "more");
	cr_assert_eq(world.decision.problems.count, 3);
	struct str text = problems_text(&world.decision.problems, &world.arena);
	size_t at;
	cr_assert(str_find(text, S("did you mean \"repo_root\""), &at), STR_FMT, STR_ARG(text));
	refused("profile", "p", 0, "{", ERROR_INVALID, "");
	cr_assert_eq(world.decision.problems.count, 1);
	refused("team", "p", 0, "{}", ERROR_INVALID, "there is no document kind team");
}

Test(system, names_are_short_and_plain)
{
	char name[LIMIT_NAME_BYTES + 2];
	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	refused("profile", name, 0, "{}", ERROR_INVALID, "must have 1 to 128 bytes");
	refused("profile", "", 0, "{}", ERROR_INVALID, "must have 1 to 128 bytes");
	refused("profile", "a\nb", 0, "{}", ERROR_INVALID, "a control character");
	refused("profile", "a/b", 0, "{}", ERROR_INVALID, "must not contain a slash");
	refused("profile", "..", 0, "{}", ERROR_INVALID, "nor be . or ..");
	refused("profile", "one", 0, "{\"name\": \"two\", \"repo_root\": \"/r\"}", ERROR_INVALID,
		"profile one calls itself two");
}

Test(system, a_document_has_a_largest_size)
{
	AUTO(buf) body = { 0 };
	buf_add(&body, S("{\"name\": \"p\", \"repo_root\": \""));
	for (size_t i = 0; i < LIMIT_DOCUMENT_BYTES; i++)
		buf_add_char(&body, 'x');
	buf_add(&body, S("\"}"));
	refused("profile", "p", 0, str_c(&world.arena, buf_str(&body)), ERROR_TOO_LARGE,
		"the limit is 262144");
}

/* ---- rules between documents ----------------------------------------------------------- */

Test(system, the_first_profile_becomes_the_active_one)
{
	profile("work", 0);
	cr_assert_not_null(strstr(active(), "work"));
	profile("play", 0);
	cr_assert_eq(world.decision.event_count, 1);
	cr_assert_not_null(strstr(active(), "work"));
}

Test(system, the_active_profile_is_not_deleted)
{
	profile("work", 0);
	profile("play", 0);
	refused("profile", "work", DOCUMENT_ANY_REVISION, "", ERROR_CONFLICT,
		"activate another one before deleting it");
	change("settings", "settings", 1, "{\"active_profile\": \"play\"}");
	change("profile", "work", DOCUMENT_ANY_REVISION, "");
	refused("profile", "play", DOCUMENT_ANY_REVISION, "", ERROR_CONFLICT,
		"is the active profile");
	refused("settings", "settings", DOCUMENT_ANY_REVISION, "", ERROR_CONFLICT,
		"cannot be unset");
	refused("settings", "settings", DOCUMENT_ANY_REVISION, "{\"active_profile\": \"work\"}",
		ERROR_NOT_FOUND, "no profile called work");
}

/* In one go the order does not matter: the rules see the world behind all of it. */
Test(system, everything_can_be_replaced_in_one_command)
{
	profile("work", 0);
	const struct document_change changes[] = {
		change_of("profile", "work", 1, ""),
		change_of("settings", "settings", DOCUMENT_ANY_REVISION,
			  "{\"active_profile\": \"new\"}"),
		change_of("profile", "new", 0, "{\"name\": \"new\", \"repo_root\": \"/n\"}"),
	};
	const struct document_command command = { 2, S("someone"), changes, COUNT(changes) };
	cr_assert(decide_all(&command), "%s", world.error.text);
	cr_assert_eq(world.decision.event_count, 3);
	store();
	cr_assert_not_null(strstr(active(), "new"));
	cr_assert_eq(document_at(DOCUMENT_PROFILE, S("work"))->body.size, 0);
}

Test(system, all_or_nothing)
{
	profile("work", 0);
	const struct document_change changes[] = {
		change_of("profile", "good", 0, "{\"name\": \"good\", \"repo_root\": \"/n\"}"),
		change_of("profile", "work", 7, "{\"name\": \"work\", \"repo_root\": \"/n\"}"),
	};
	const struct document_command command = { 2, S("someone"), changes, COUNT(changes) };
	cr_assert_not(decide_all(&command));
	cr_assert_eq(world.error.code, ERROR_PRECONDITION_FAILED);
	const struct document_change twice[] = { changes[0], changes[0] };
	const struct document_command doubled = { 2, S("someone"), twice, COUNT(twice) };
	cr_assert_not(decide_all(&doubled));
	cr_assert_not_null(strstr(world.error.text, "changed twice"));
}

Test(system, there_is_one_of_what_there_is_one_of)
{
	change("server", "server", 0, "{\"max_concurrent\": 7}");
	cr_assert(str_equal(document_at(DOCUMENT_SERVER, S("server"))->body,
			    S("{\"max_concurrent\":7}")),
		  "only what was set is stored");
	refused("server", "other", 0, "{}", ERROR_INVALID, "only document of kind server");
	refused("server", "server", 1, "{\"max_concurrent\": 0}", ERROR_INVALID, "1");
}

Test(system, a_key_stands_under_its_id)
{
	const char *body = "{\"id\": \"00000000-0000-4000-8000-000000000001\", \"label\": \"ci\", "
			   "\"role\": \"viewer\", \"sha256\": \"00000000000000000000000000000000"
			   "00000000000000000000000000000000\", \"created_at\": "
			   "\"2026-01-01T00:00:00Z\", \"created_by\": \"me\"}";
	change("key", "00000000-0000-4000-8000-000000000001", 0, body);
	refused("key", "00000000-0000-4000-8000-000000000002", 0, body, ERROR_INVALID,
		"calls itself");
}

/* ---- secrets ----------------------------------------------------------------------------- */

Test(system, secrets_are_references)
{
	refused("profile", "p", 0,
		"{\"name\": \"p\", \"repo_root\": \"/r\", \"agents\": {\"dev\": {\"driver\": "
		"\"api\", \"model\": \"m\", \"options\": {\"api_key\": \"sk-1\", \"deep\": "
		"[{\"Token\": \"t\"}], \"max_tokens\": 5, \"monkey\": \"k\"}}}, \"sandbox\": "
		"{\"repo_url\": \"https://me:word@example.org/r.git\"}}",
		ERROR_INVALID, "more");
	const struct problems *problems = &world.decision.problems;
	cr_assert_eq(problems->count, 3);
	cr_assert(str_equal(problems->at[0].pointer, S("/sandbox/repo_url")));
	cr_assert(str_equal(problems->at[1].pointer, S("/agents/dev/options/api_key")));
	cr_assert(str_equal(problems->at[2].pointer, S("/agents/dev/options/deep/0/Token")));
	change("profile", "p", 0,
	       "{\"name\": \"p\", \"repo_root\": \"/r\", \"agents\": {\"dev\": {\"driver\": "
	       "\"api\", \"model\": \"m\", \"options\": {\"api_key\": \"env:KEY\", \"token\": "
	       "\"file:t\"}}}, \"sandbox\": {\"repo_url\": \"ssh://git@example.org/r.git\"}}");
}

Test(system, too_many_in_one_go)
{
	struct document_change changes[LIMIT_DOCUMENT_CHANGES + 1];
	for (size_t i = 0; i < COUNT(changes); i++) {
		const char *name = str_format(&world.arena, "p%zu", i).at;
		changes[i] = change_of(
			"profile", name, 0,
			str_format(&world.arena, "{\"name\": \"%s\", \"repo_root\": \"/\"}", name)
				.at);
	}
	struct document_command command = { 2, S("someone"), changes, COUNT(changes) };
	cr_assert_not(decide_all(&command));
	cr_assert_eq(world.error.code, ERROR_TOO_LARGE);
	command.count--;
	cr_assert(decide_all(&command), "%s", world.error.text);
	cr_assert_eq(world.decision.event_count, LIMIT_DOCUMENT_CHANGES + 1);
	command.count = 0;
	cr_assert_not(decide_all(&command));
}
