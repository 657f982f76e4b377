/* effect/attachments.c -- pictures and recordings of a request. */
#include "effect/attachments.h"

#include <stdlib.h>

#include "base/base64.h"
#include "base/limits.h"
#include "os/failpoint.h"

static size_t count_of(const struct run_turn_message *message)
{
	return has(message, attachments) ? message->attachments.count : 0;
}

static struct attachment *find(const struct attachments *attachments, const struct hash *sha256)
{
	for (size_t i = 0; i < attachments->count; i++)
		if (hash_equal(&attachments->at[i].sha256, sha256))
			return &attachments->at[i];
	return NULL;
}

/* From the newest message backwards, within the limits.  A content that is shown twice counts twice,
 * because it is sent twice. */
struct attachments attachments_of(const struct run_turn *turn, struct arena *arena)
{
	struct attachments out = { .at = arena_array(arena, struct attachment,
						     LIMIT_TURN_ATTACHMENTS) };
	int64_t shown = 0, bytes = 0;
	for (size_t m = turn->messages.count; m > 0; m--) {
		const struct run_turn_message *message = &turn->messages.at[m - 1];
		for (size_t i = count_of(message); i > 0; i--) {
			const struct run_attachment *one = &message->attachments.at[i - 1];
			if (++shown > LIMIT_TURN_ATTACHMENTS ||
			    (bytes += one->size) > LIMIT_TURN_ATTACHMENT_BYTES)
				return out;
			if (find(&out, &one->sha256) != NULL)
				continue;
			out.at[out.count++] =
				(struct attachment){ .sha256 = one->sha256,
						     .name = str_copy(arena, one->name),
						     .media_type =
							     run_media_type_name(one->media_type) };
		}
	}
	return out;
}

/* ---- reading ------------------------------------------------------------------------------- */

static void read_work(struct executor_read *read, struct store_reader *reader)
{
	struct attachments_read *r = (struct attachments_read *)read;
	(void)reader;
	for (size_t i = 0; i < r->attachments.count; i++) {
		struct attachment *one = &r->attachments.at[i];
		struct run_artifact *artifact = run_artifact_new(&read->arena);
		struct str bytes;
		SET(artifact, name, one->name);
		SET(artifact, sha256, one->sha256);
		if (!artifact_read(r->artifacts, artifact, &read->arena, &bytes, &r->error))
			return;
		if (bytes.size > LIMIT_ATTACHMENT_BYTES) {
			fail(&r->error, ERROR_INVALID,
			     "artifact " STR_FMT " has %zu bytes, and a model is shown at most %d",
			     STR_ARG(one->name), bytes.size, LIMIT_ATTACHMENT_BYTES);
			return;
		}
		one->data = base64_text(&read->arena, bytes);
	}
}

void attachments_read(struct executor *executor, struct artifacts *artifacts,
		      const struct attachments *wanted, uint64_t asking,
		      void (*done)(struct executor_read *read))
{
	struct attachments_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	struct arena *arena = &r->read.arena;
	r->attachments.at = arena_array(arena, struct attachment, wanted->count);
	for (size_t i = 0; i < wanted->count; i++) {
		r->attachments.at[i] = wanted->at[i];
		r->attachments.at[i].name = str_copy(arena, wanted->at[i].name);
	}
	r->attachments.count = wanted->count;
	r->artifacts = artifacts;
	r->asking = asking;
	r->read.work = read_work;
	r->read.done = done;
	FAILPOINT("attachments.before_read");
	executor_read(executor, &r->read);
}

/* ---- the request --------------------------------------------------------------------------- */

static struct run_turn_part part_of(const struct attachment *attachment, struct arena *arena)
{
	struct run_turn_part *part = run_turn_part_new(arena);
	SET(part, kind,
	    str_starts(attachment->media_type, S("audio/")) ? RUN_PART_AUDIO : RUN_PART_IMAGE);
	SET(part, media_type, attachment->media_type);
	SET(part, data, attachment->data);
	return *part;
}

/* What is not shown is named in the text. */
static void put(struct run_turn_message *out, const struct run_turn_message *message,
		size_t skipped, const struct attachments *attachments, struct arena *arena)
{
	size_t count = count_of(message), given = has(message, parts) ? message->parts.count : 0;
	struct run_turn_part *parts = arena_array(arena, struct run_turn_part, given + count);
	*out = *run_turn_message_new(arena);
	SET(out, role, message->role);
	SET(out, content, message->content);
	if (has(message, call))
		SET(out, call, message->call);
	if (has(message, tool))
		SET(out, tool, message->tool);
	if (has(message, failed))
		SET(out, failed, message->failed);
	for (size_t i = 0; i < given; i++)
		parts[i] = message->parts.at[i];
	for (size_t i = 0; i < count; i++) {
		const struct run_attachment *one = &message->attachments.at[i];
		const struct attachment *found =
			i < skipped ? NULL : find(attachments, &one->sha256);
		if (found != NULL)
			parts[given++] = part_of(found, arena);
		else
			SET(out, content,
			    str_format(arena, STR_FMT "\n[" STR_FMT " is no longer shown.]",
				       STR_ARG(out->content), STR_ARG(one->name)));
	}
	if (given > 0)
		SET(out, parts, ((struct run_turn_part_list){ parts, given }));
}

const struct run_turn *attachments_put(const struct run_turn *turn,
				       const struct attachments *attachments, struct arena *arena)
{
	struct run_turn *out = arena_copy(arena, turn, sizeof(*turn));
	struct run_turn_message *messages = arena_copy(
		arena, turn->messages.at, turn->messages.count * sizeof(*turn->messages.at));
	int64_t shown = 0, bytes = 0;
	for (size_t m = turn->messages.count; m > 0; m--) {
		const struct run_turn_message *message = &turn->messages.at[m - 1];
		size_t skipped = count_of(message);
		for (; skipped > 0; skipped--)
			if (++shown > LIMIT_TURN_ATTACHMENTS ||
			    (bytes += message->attachments.at[skipped - 1].size) >
				    LIMIT_TURN_ATTACHMENT_BYTES)
				break;
		if (has(message, attachments))
			put(&messages[m - 1], message, skipped, attachments, arena);
	}
	SET(out, messages, ((struct run_turn_message_list){ messages, turn->messages.count }));
	return out;
}
