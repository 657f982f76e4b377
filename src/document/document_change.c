/* document/document_change.c -- changes of documents, one after the other.
 *
 * Changes are few and small, so there is one queue and one change under way: a reader thread reads
 * the documents and decides, the append is committed, and the watchers are called.  Nobody else
 * writes the system stream, so the append meets what was read; if it does not, the append is refused
 * and the change is decided again (architecture R2).
 *
 * A watch loads its documents through the same queue, so no change can fall between the load and
 * the first call for a change.
 */
#include "document/documents.h"

#include <stddef.h>
#include <stdlib.h>

#include "active/executor_jobs.h"
#include "active/notices.h"
#include "base/limits.h"
#include "contract/event.h"
#include "document/documents_state.h"
#include "document/schedule_jobs.h"
#include "engine/document_rules.h"
#include "os/failpoint.h"
#include "store/writer.h"

struct document_watch {
	struct document_watch *next;
	enum document_kind kind;
	documents_changed *changed;
	platform_callback *loaded;
	void *context;
};

/* A document that was read for this attempt; one that does not exist has the body "". */
struct seen {
	struct seen *next;
	struct document_state document;
};

struct document_job {
	struct executor_read read; /* first; its arena is that of the attempt */
	struct writer_ticket ticket;
	struct document_job *next;
	struct documents *documents;
	struct arena arena; /* of the request, until the reply */

	struct document_watch *watch; /* not NULL: a load for this watch */
	struct store_document_page loaded;

	struct documents_composition how; /* compose NULL: `one` */
	struct documents_change one;
	executor_replied *replied;
	void *context;
	uint64_t argument;

	int tries;
	int64_t now;
	int64_t seq; /* of the system stream */
	struct seen *seen;
	struct document_decision decision;
	struct problems problems;
	struct store_request known; /* what the key was used for before */
	bool repeated;
	struct error error;
};

static void job_begin(struct document_job *job);

/* ---- reading --------------------------------------------------------------------------- */

static const struct document_state *look(void *context, enum document_kind kind, struct str name)
{
	const struct document_job *job = context;
	for (const struct seen *seen = job->seen; seen != NULL; seen = seen->next)
		if (seen->document.kind == kind && str_equal(seen->document.name, name))
			return &seen->document;
	return NULL;
}

static bool load_document(struct document_job *job, struct store_reader *reader,
			  const struct document_need *need)
{
	struct arena *arena = &job->read.arena;
	struct store_document row = { .body = S("") };
	bool found;
	if (!reader->ops->read_document(reader, document_kind_name(need->kind), need->name, arena,
					&row, &found, &job->error))
		return false;
	struct seen *seen = arena_new(arena, struct seen);
	seen->document = (struct document_state){ need->kind, str_copy(arena, need->name),
						  row.revision, found ? row.body : S("") };
	seen->next = job->seen;
	job->seen = seen;
	return true;
}

static bool load_stream(struct document_job *job, struct store_reader *reader)
{
	static const struct uuid system_stream;
	struct store_run row;
	bool found;
	if (!reader->ops->read_run(reader, &system_stream, &job->read.arena, &row, &found,
				   &job->error))
		return false;
	job->seq = found ? row.seq : 0;
	return true;
}

/* The key is stored: the same request was done already, another request is a mistake. */
static bool check_key(struct document_job *job, const struct store_request *known)
{
	if (!hash_equal(&known->said, &job->how.key.said))
		return fail(&job->error, ERROR_CONFLICT,
			    "this Idempotency-Key was used for another request; take a new one");
	job->repeated = true;
	job->known = *known;
	return true;
}

static bool load_key(struct document_job *job, struct store_reader *reader)
{
	bool found;
	struct store_request known;
	if (job->how.key.key.size == 0)
		return true;
	if (!reader->ops->read_request(reader, job->how.key.key, &job->read.arena, &known, &found,
				       &job->error))
		return false;
	return !found || check_key(job, &known);
}

static bool compose(struct document_job *job, struct store_reader *reader,
		    struct document_command *out_command)
{
	struct documents_changes changes = { &job->one, job->how.compose == NULL };
	struct arena *arena = &job->read.arena;
	if (job->how.compose != NULL && !job->how.compose(job->how.context, reader, arena, &changes,
							  &job->problems, &job->error))
		return false;
	struct document_change *list = arena_array(arena, struct document_change, changes.count);
	for (size_t i = 0; i < changes.count; i++)
		list[i] = (struct document_change){ changes.at[i].kind, changes.at[i].name,
						    changes.at[i].revision, changes.at[i].body };
	*out_command = (struct document_command){ job->now, job->how.by, list, changes.count };
	return true;
}

static void change_work(struct executor_read *read, struct store_reader *reader)
{
	struct document_job *job = (struct document_job *)read;
	struct document_command command;
	job->problems.arena = &read->arena;
	if (!load_stream(job, reader) || !load_key(job, reader) || job->repeated ||
	    !compose(job, reader, &command) || command.count == 0)
		return;
	const struct document_view view = { look, job };
	for (;;) {
		enum engine_answer answer;
		job->decision = (struct document_decision){ .arena = &read->arena };
		if (!document_decide(&command, &view, &job->decision, &answer, &job->error)) {
			job->problems = job->decision.problems;
			return;
		}
		if (answer == ENGINE_DONE)
			return;
		for (size_t i = 0; i < job->decision.need_count; i++)
			if (!load_document(job, reader, &job->decision.needs[i]))
				return;
	}
}

/* ---- telling --------------------------------------------------------------------------- */

static void tell_watches(const struct documents *documents, enum document_kind kind,
			 const struct watched_document *document)
{
	for (const struct document_watch *watch = documents->watches; watch != NULL;
	     watch = watch->next)
		if (watch->kind == kind)
			watch->changed(watch->context, document);
}

static void job_free(struct document_job *job)
{
	arena_done(&job->read.arena);
	arena_done(&job->arena);
	free(job);
}

/* Frees the job and begins the next one. */
static void job_over(struct document_job *job)
{
	struct documents *documents = job->documents;
	require(documents->first == job);
	documents->first = job->next;
	if (documents->first == NULL)
		documents->last = NULL;
	documents->waiting--;
	job_free(job);
	if (documents->first != NULL)
		job_begin(documents->first);
}

static void reply_with(struct document_job *job, const struct error *error)
{
	struct executor_reply reply = { .error = error, .body = S("") };
	if (error != NULL && job->problems.count > 0)
		reply.problems = &job->problems;
	if (error == NULL && job->repeated) {
		reply.repeated = true;
		reply.run = job->known.subject;
	} else if (error == NULL && job->decision.result_count > 0) {
		const struct document_result *first = &job->decision.results[0];
		reply.body = first->body;
		reply.revision = first->body.size > 0 ? first->revision : 0;
		reply.created = first->before == 0 && first->body.size > 0;
	}
	job->replied(job->context, job->argument, &reply);
}

static void job_reply(struct document_job *job, const struct error *error)
{
	reply_with(job, error);
	job_over(job);
}

/* ---- committing ------------------------------------------------------------------------ */

static struct document_job *job_of(struct writer_ticket *ticket)
{
	return (struct document_job *)(void *)((char *)ticket -
					       offsetof(struct document_job, ticket));
}

static void tell(struct document_job *job)
{
	struct documents *documents = job->documents;
	for (size_t i = 0; i < job->decision.result_count; i++) {
		const struct document_result *result = &job->decision.results[i];
		const struct watched_document document = { document_kind_name(result->kind),
							   result->name, result->body,
							   result->revision };
		if (result->changed)
			tell_watches(documents, result->kind, &document);
	}
	const struct executor_notice notice = {
		.seq = job->seq + (int64_t)job->decision.event_count,
		.position = job->ticket.append.last_position,
	};
	notice_publish(documents->executor, &notice);
}

static void redo(struct document_job *job)
{
	if (++job->tries < LIMIT_DOCUMENT_TRIES) {
		job_begin(job);
		return;
	}
	fail(&job->error, ERROR_CONFLICT, "somebody else changes documents all the time");
	job_reply(job, &job->error);
}

static void committed(struct writer_ticket *ticket)
{
	struct document_job *job = job_of(ticket);
	struct executor *executor = job->documents->executor;
	FAILPOINT("documents.committed");
	switch (ticket->append.outcome) {
	case STORE_COMMITTED:
		executor_note_disk_space(executor, false);
		tell(job);
		job_reply(job, NULL);
		break;
	case STORE_FULL:
		executor_note_disk_space(executor, true);
		fail(&job->error, ERROR_STORAGE_FULL,
		     "there is no room on the disk, nothing was changed; make room and try again");
		job_reply(job, &job->error);
		break;
	case STORE_GUARDED:
		fail(&job->error, ERROR_TOO_LARGE,
		     "there are as many documents of this kind as are kept; delete one first");
		job_reply(job, &job->error);
		break;
	case STORE_REPEATED:
		job_reply(job, check_key(job, &ticket->append.request) ? NULL : &job->error);
		break;
	case STORE_PENDING:
	case STORE_CONFLICT:
		redo(job);
		break;
	}
}

/* The most documents of a kind. */
static int64_t most_of(size_t kind)
{
	return kind == DOCUMENT_DEFINITION_VERSION ? LIMIT_DEFINITION_VERSIONS
	       : kind == DOCUMENT_PROMPT_VERSION   ? LIMIT_PROMPT_VERSIONS
	       : kind == DOCUMENT_PROJECT          ? LIMIT_PROJECTS
						   : LIMIT_DOCUMENTS;
}

/* Guards of the store count the documents of each kind. */
static void fill_guards(struct document_job *job, struct store_append *append)
{
	struct arena *arena = &job->read.arena;
	size_t kinds = document_kind_count();
	struct store_guard *guards = arena_array(arena, struct store_guard, kinds);
	for (size_t kind = 0; kind < kinds; kind++) {
		int64_t more = 0;
		for (size_t i = 0; i < job->decision.result_count; i++) {
			const struct document_result *result = &job->decision.results[i];
			if ((size_t)result->kind == kind && result->changed)
				more += (result->body.size > 0) - (result->before > 0);
		}
		struct str name = document_kind_name((enum document_kind)kind);
		if (more != 0)
			guards[append->guard_count++] =
				(struct store_guard){ str_format(arena, "documents." STR_FMT,
								 STR_ARG(name)),
						      more, more > 0 ? most_of(kind) : -1 };
	}
	append->guards = guards;
}

static struct uuid subject_of(const struct document_job *job)
{
	const struct document_result *first = &job->decision.results[0];
	const struct str parts[] = { document_kind_name(first->kind), first->name };
	return uuid_is_zero(&job->how.subject) ? uuid_derive(parts, COUNT(parts))
					       : job->how.subject;
}

static void fill_append(struct document_job *job, struct store_append *append)
{
	const struct document_decision *decision = &job->decision;
	struct arena *arena = &job->read.arena;
	struct store_event *events = arena_array(arena, struct store_event, decision->event_count);
	struct store_document *documents =
		arena_array(arena, struct store_document, decision->event_count);
	for (size_t i = 0; i < decision->event_count; i++) {
		const struct event *event = &decision->events[i];
		events[i] = (struct store_event){ .type = event_name(event->type),
						  .at = event->at,
						  .body = event_body(event, arena),
						  .kept = true };
	}
	size_t count = 0;
	for (size_t i = 0; i < decision->result_count; i++) {
		const struct document_result *result = &decision->results[i];
		if (result->changed)
			documents[count++] =
				(struct store_document){ .kind = document_kind_name(result->kind),
							 .name = result->name,
							 .revision = result->before,
							 .changed_at = job->now,
							 .body = result->body };
	}
	*append = (struct store_append){
		.expected_seq = job->seq,
		.run = { .name = S("system"),
			 .state = S(""),
			 .created_at = job->now,
			 .updated_at = job->now,
			 .summary = S("{}") },
		.events = events,
		.event_count = decision->event_count,
		.documents = documents,
		.document_count = count,
	};
	fill_guards(job, append);
	if (job->how.key.key.size > 0)
		append->request = (struct store_request){ .key = job->how.key.key,
							  .said = job->how.key.said,
							  .subject = subject_of(job),
							  .at = job->now };
}

static void change_done(struct executor_read *read)
{
	struct document_job *job = (struct document_job *)read;
	if (executor_has_failed(read->executor))
		return; /* nothing is acknowledged any more */
	if (job->error.code != ERROR_NONE) {
		job_reply(job, &job->error);
	} else if (job->repeated || job->decision.event_count == 0) {
		job_reply(job, NULL);
	} else {
		fill_append(job, &job->ticket.append);
		job->ticket.done = committed;
		FAILPOINT("documents.before_append");
		executor_append(read->executor, &job->ticket);
	}
}

/* ---- loading --------------------------------------------------------------------------- */

static void load_work(struct executor_read *read, struct store_reader *reader)
{
	struct document_job *job = (struct document_job *)read;
	struct str kind = document_kind_name(job->watch->kind), after = S("");
	struct store_document *all =
		arena_array(&read->arena, struct store_document, LIMIT_DOCUMENTS);
	size_t count = 0;
	for (;;) {
		struct store_document_page page;
		if (!reader->ops->list_documents(reader, kind, after, LIMIT_PAGE_ITEMS,
						 &read->arena, &page, &job->error))
			return;
		for (size_t i = 0; i < page.count && count < LIMIT_DOCUMENTS; i++)
			all[count++] = page.at[i];
		if (page.count < LIMIT_PAGE_ITEMS || count == LIMIT_DOCUMENTS)
			break;
		after = page.at[page.count - 1].name;
	}
	job->loaded = (struct store_document_page){ all, count };
}

static void load_done(struct executor_read *read)
{
	struct document_job *job = (struct document_job *)read;
	struct documents *documents = job->documents;
	struct document_watch *watch = job->watch;
	if (job->error.code != ERROR_NONE) {
		/* A watcher must not go on as if there were no documents. */
		executor_fail(read->executor, &job->error);
		return;
	}
	/* At the end: watchers are called in the order in which they began. */
	struct document_watch **end = &documents->watches;
	while (*end != NULL)
		end = &(*end)->next;
	*end = watch;
	job->watch = NULL;
	for (size_t i = 0; i < job->loaded.count; i++) {
		const struct store_document *row = &job->loaded.at[i];
		const struct watched_document document = { row->kind, row->name, row->body,
							   row->revision };
		watch->changed(watch->context, &document);
	}
	watch->loaded(watch->context, job->loaded.count);
	job_over(job);
}

/* ---- the queue ------------------------------------------------------------------------- */

/* Begins an attempt; what the attempt before has read and decided is dropped. */
static void job_begin(struct document_job *job)
{
	struct executor *executor = job->documents->executor;
	arena_done(&job->read.arena);
	job->read.arena = (struct arena){ 0 };
	job->seen = NULL;
	job->decision = (struct document_decision){ 0 };
	job->problems = (struct problems){ 0 };
	job->error = (struct error){ 0 };
	job->now = executor_now(executor);
	job->read.work = job->watch != NULL ? load_work : change_work;
	job->read.done = job->watch != NULL ? load_done : change_done;
	executor_read(executor, &job->read);
}

static void job_add(struct documents *documents, struct document_job *job)
{
	if (documents->last == NULL)
		documents->first = job;
	else
		documents->last->next = job;
	documents->last = job;
	documents->waiting++;
	if (documents->first == job)
		job_begin(job);
}

static struct document_job *job_new(struct documents *documents)
{
	struct document_job *job = calloc(1, sizeof(*job));
	require(job != NULL);
	job->documents = documents;
	return job;
}

static void change_add(struct documents *documents, struct document_job *job,
		       executor_replied *replied, void *context, uint64_t argument)
{
	job->how.by = str_copy(&job->arena, job->how.by);
	job->how.key.key = str_copy(&job->arena, job->how.key.key);
	job->replied = replied;
	job->context = context;
	job->argument = argument;
	if (documents->waiting >= LIMIT_DOCUMENT_QUEUE)
		fail(&job->error, ERROR_UNAVAILABLE, "too many changes of documents are waiting");
	else if (executor_admits(documents->executor, &job->error)) {
		job_add(documents, job);
		return;
	}
	reply_with(job, &job->error);
	job_free(job);
}

void documents_change(struct documents *documents, const struct documents_change *change,
		      executor_replied *replied, void *context, uint64_t argument)
{
	struct document_job *job = job_new(documents);
	job->one = *change;
	job->one.kind = str_copy(&job->arena, change->kind);
	job->one.name = str_copy(&job->arena, change->name);
	job->one.body = str_copy(&job->arena, change->body);
	job->how = (struct documents_composition){ .by = change->by, .key = change->key };
	change_add(documents, job, replied, context, argument);
}

void documents_change_composed(struct documents *documents, const struct documents_composition *how,
			       executor_replied *replied, void *context, uint64_t argument)
{
	struct document_job *job = job_new(documents);
	job->how = *how;
	change_add(documents, job, replied, context, argument);
}

void documents_watch(struct documents *documents, struct str kind, documents_changed *changed,
		     platform_callback *loaded, void *context)
{
	struct document_watch *watch = calloc(1, sizeof(*watch));
	require(watch != NULL);
	bool known = document_kind_from(kind, &watch->kind);
	require(known);
	watch->changed = changed;
	watch->loaded = loaded;
	watch->context = context;
	struct document_job *job = job_new(documents);
	job->watch = watch;
	job_add(documents, job);
}

struct documents *documents_new(struct executor *executor)
{
	struct documents *documents = calloc(1, sizeof(*documents));
	require(documents != NULL);
	documents->executor = executor;
	return documents;
}

void documents_free(struct documents *documents)
{
	schedules_discard(documents);
	for (struct document_job *job; (job = documents->first) != NULL;) {
		documents->first = job->next;
		free(job->watch);
		job_free(job);
	}
	for (struct document_watch *watch; (watch = documents->watches) != NULL;) {
		documents->watches = watch->next;
		free(watch);
	}
	free(documents);
}
