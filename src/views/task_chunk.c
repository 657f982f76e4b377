/* views/task_chunk.c -- prints task.StreamChunk. */
#include "views/task_chunk.h"

#include "contract/task_types.h"

struct uuid task_chunk_step(const struct uuid *run, struct str path)
{
	struct str parts[] = { uuid_str(run), S("step"), path };
	return uuid_derive(parts, COUNT(parts));
}

struct str task_chunk_hex(const char *prefix, const struct uuid *id, struct arena *arena)
{
	char text[UUID_TEXT_SIZE];
	struct str rest = uuid_text(id, text), piece, hex = str_from_c(prefix);
	while (str_cut(&rest, '-', &piece))
		hex = str_format(arena, STR_FMT STR_FMT, STR_ARG(hex), STR_ARG(piece));
	return hex;
}

struct str task_chunk_text(const struct task_chunk *chunk, struct arena *arena)
{
	struct task_stream_chunk *out = task_stream_chunk_new(arena);
	struct uuid step = task_chunk_step(&chunk->run, chunk->step);
	SET(out, step_id, task_chunk_hex("step_", &step, arena));
	SET(out, agent_name, chunk->agent);
	SET(out, text, chunk->text);
	SET(out, is_final, chunk->is_final);
	SET(out, timestamp, chunk->at);
	return task_stream_chunk_text(out, arena);
}
