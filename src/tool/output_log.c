/* tool/output_log.c -- the log of one attempt: its first and its last bytes.
 *
 * Head and tail are a text and a list of parts each; a part is a run of bytes of one stream.  The
 * head only grows.  The tail loses characters at its front when it is over its limit; the memory is
 * moved when as much is lost as is kept, so that adding costs the same however long the log is.
 *
 * What counts is the size of the JSON text: an escape has six bytes there, and a part has a frame.
 * Otherwise a program that writes one byte to each stream in turn would make a value of megabytes
 * from few bytes.
 */
#include "tool/output_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/secret_mask.h"
#include "base/utf8.h"
#include "contract/run_log_types.h"

enum { PART_BYTES = 48, CHARACTER_BYTES = 4 };

struct part {
	enum output_stream stream;
	uint64_t offset; /* of its first byte in the log */
	size_t size;
};

struct section {
	struct buf text;
	size_t text_first; /* bytes of the text before this one are dropped */
	struct part *parts;
	size_t part_first, part_count, part_room; /* parts before part_first are dropped */
	size_t cost;                              /* bytes as JSON text */
};

struct output_log {
	struct section head, tail;
	bool head_full;
	uint64_t size;
	char split[2][CHARACTER_BYTES]; /* of each stream: the beginning of a character */
	size_t split_size[2];
	const struct secret_mask *mask; /* NULL = there are no secrets */
	struct buf held[2];             /* of each stream: could be the beginning of a secret */
};

struct output_log *output_log_new(void)
{
	struct output_log *log = calloc(1, sizeof(*log));
	require(log != NULL);
	return log;
}

static void section_done(struct section *section)
{
	buf_done(&section->text);
	free(section->parts);
}

void output_log_free(struct output_log *log)
{
	if (log == NULL)
		return;
	section_done(&log->head);
	section_done(&log->tail);
	buf_done(&log->held[OUTPUT_STDOUT]);
	buf_done(&log->held[OUTPUT_STDERR]);
	free(log);
}

void output_log_set_mask(struct output_log *log, const struct secret_mask *mask)
{
	log->mask = mask;
}

/* ---- sections ------------------------------------------------------------------------ */

static size_t byte_cost(char c)
{
	unsigned char byte = (unsigned char)c;
	if (byte == '"' || byte == '\\')
		return 2;
	return byte >= 0x20 ? 1 : byte == '\n' || byte == '\t' || byte == '\r' ? 2 : 6;
}

static size_t text_cost(struct str text)
{
	size_t cost = 0;
	for (size_t i = 0; i < text.size; i++)
		cost += byte_cost(text.at[i]);
	return cost;
}

static struct part *section_last(const struct section *section)
{
	return section->part_count == section->part_first
		       ? NULL
		       : &section->parts[section->part_count - 1];
}

/* Moves what is kept to the front when at least as much was dropped. */
static void section_pack(struct section *section)
{
	if (section->text_first > 0 && section->text_first * 2 >= section->text.size) {
		buf_drop_front(&section->text, section->text_first);
		section->text_first = 0;
	}
	if (section->part_first > 0 && section->part_first * 2 >= section->part_count) {
		section->part_count -= section->part_first;
		memmove(section->parts, section->parts + section->part_first,
			section->part_count * sizeof(*section->parts));
		section->part_first = 0;
	}
}

static void section_add(struct section *section, enum output_stream stream, uint64_t offset,
			struct str text)
{
	struct part *last = section_last(section);
	if (text.size == 0)
		return;
	if (last == NULL || last->stream != stream) {
		if (section->part_count == section->part_room) {
			section->part_room = section->part_room == 0 ? 4 : section->part_room * 2;
			section->parts = realloc(section->parts,
						 section->part_room * sizeof(*section->parts));
			require(section->parts != NULL);
		}
		last = &section->parts[section->part_count++];
		*last = (struct part){ .stream = stream, .offset = offset };
		section->cost += PART_BYTES;
	}
	last->size += text.size;
	section->cost += text_cost(text);
	buf_add(&section->text, text);
}

static size_t character_size(struct str text)
{
	size_t size = 1;
	while (size < text.size && ((unsigned char)text.at[size] & 0xC0) == 0x80)
		size++;
	return size;
}

/* Drops whole characters at the front until the section is within the limit. */
static void section_trim(struct section *section, size_t limit)
{
	while (section->cost > limit) {
		struct part *first = &section->parts[section->part_first];
		struct str text = str_skip(buf_str(&section->text), section->text_first);
		size_t size = character_size(str_head(text, first->size));
		section->cost -= text_cost(str_head(text, size));
		section->text_first += size;
		first->offset += size;
		first->size -= size;
		if (first->size > 0)
			continue;
		section->part_first++;
		section->cost -= PART_BYTES;
	}
	section_pack(section);
}

/* The part that contains the offset, or the first one behind it. */
static bool section_read(const struct section *section, uint64_t offset,
			 struct output_chunk *out_chunk)
{
	size_t low = section->part_first, high = section->part_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct part *part = &section->parts[middle];
		if (part->offset + part->size <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == section->part_count)
		return false;
	const struct part *part = &section->parts[low];
	uint64_t from = offset > part->offset ? offset : part->offset;
	size_t skip =
		section->text_first + (size_t)(from - section->parts[section->part_first].offset);
	*out_chunk = (struct output_chunk){
		.stream = part->stream,
		.offset = from,
		.omitted = from - offset,
		.text = str_head(str_skip(buf_str(&section->text), skip),
				 (size_t)(part->offset + part->size - from)),
	};
	return true;
}

/* ---- adding -------------------------------------------------------------------------- */

/* The longest beginning of the text, in whole characters, that still fits into the head. */
static size_t head_takes(const struct output_log *log, enum output_stream stream, struct str text)
{
	const struct part *last = section_last(&log->head);
	size_t cost = log->head.cost + (last != NULL && last->stream == stream ? 0 : PART_BYTES);
	size_t size = 0;
	while (size < text.size) {
		size_t next = character_size(str_skip(text, size));
		cost += text_cost(str_head(str_skip(text, size), next));
		if (cost > LIMIT_STEP_LOG_HEAD_BYTES)
			break;
		size += next;
	}
	return size;
}

static void store_text(struct output_log *log, enum output_stream stream, struct str text)
{
	if (!log->head_full) {
		size_t size = head_takes(log, stream, text);
		section_add(&log->head, stream, log->size, str_head(text, size));
		log->head_full = size < text.size;
		log->size += size;
		text = str_skip(text, size);
	}
	section_add(&log->tail, stream, log->size, text);
	log->size += text.size;
	section_trim(&log->tail, LIMIT_STEP_LOG_TAIL_BYTES);
}

static void mask_held(struct output_log *log, enum output_stream stream, bool last)
{
	AUTO(buf) masked = { 0 };
	struct buf *held = &log->held[stream];
	if (log->mask == NULL || held->size == 0)
		return;
	buf_drop_front(held, secret_mask_stream(log->mask, buf_str(held), last, &masked));
	store_text(log, stream, buf_str(&masked));
}

static void add_text(struct output_log *log, enum output_stream stream, struct str text)
{
	if (log->mask == NULL) {
		store_text(log, stream, text);
		return;
	}
	buf_add(&log->held[stream], text);
	mask_held(log, stream, false);
}

/* Whether the bytes could be the beginning of a longer character. */
static bool is_beginning(struct str bytes)
{
	unsigned char first = (unsigned char)bytes.at[0];
	size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 1;
	if (bytes.size >= size || first > 0xF4)
		return false;
	for (size_t i = 1; i < bytes.size; i++)
		if (((unsigned char)bytes.at[i] & 0xC0) != 0x80)
			return false;
	return true;
}

void output_log_add(struct output_log *log, enum output_stream stream, struct str bytes)
{
	AUTO(buf) joined = { 0 };
	size_t bad;
	if (log->split_size[stream] > 0) {
		buf_add(&joined, (struct str){ log->split[stream], log->split_size[stream] });
		buf_add(&joined, bytes);
		bytes = buf_str(&joined);
		log->split_size[stream] = 0;
	}
	while (!utf8_valid(bytes, &bad)) {
		add_text(log, stream, str_head(bytes, bad));
		bytes = str_skip(bytes, bad);
		if (is_beginning(bytes)) {
			memcpy(log->split[stream], bytes.at, bytes.size);
			log->split_size[stream] = bytes.size;
			return;
		}
		add_text(log, stream, S("\xEF\xBF\xBD"));
		bytes = str_skip(bytes, 1);
	}
	add_text(log, stream, bytes);
}

void output_log_close(struct output_log *log)
{
	for (enum output_stream stream = OUTPUT_STDOUT; stream <= OUTPUT_STDERR; stream++) {
		if (log->split_size[stream] > 0)
			add_text(log, stream, S("\xEF\xBF\xBD"));
		log->split_size[stream] = 0;
		mask_held(log, stream, true);
	}
}

/* ---- reading ------------------------------------------------------------------------- */

uint64_t output_log_size(const struct output_log *log)
{
	return log->size;
}

bool output_log_read(const struct output_log *log, uint64_t offset, struct output_chunk *out_chunk)
{
	return section_read(&log->head, offset, out_chunk) ||
	       section_read(&log->tail, offset, out_chunk);
}

const struct json *output_log_json(const struct output_log *log, struct arena *arena)
{
	size_t most = log->head.part_count + log->tail.part_count, count = 0;
	struct run_log_part *parts = arena_array(arena, struct run_log_part, most);
	struct output_chunk chunk;
	uint64_t offset = 0, omitted = 0;
	if (log->size == 0)
		return NULL;
	for (; output_log_read(log, offset, &chunk); offset = chunk.offset + chunk.text.size) {
		struct run_log_part *part = &parts[count++];
		*part = *run_log_part_new(arena);
		SET(part, stream,
		    chunk.stream == OUTPUT_STDERR ? RUN_LOG_STREAM_STDERR : RUN_LOG_STREAM_STDOUT);
		SET(part, text, chunk.text);
		if (chunk.omitted > 0)
			SET(part, omitted, (int64_t)chunk.omitted);
		omitted += chunk.omitted;
	}
	struct run_log *out = run_log_new(arena);
	SET(out, parts, ((struct run_log_part_list){ parts, count }));
	SET(out, size, (int64_t)log->size);
	if (omitted > 0)
		SET(out, omitted, (int64_t)omitted);
	return run_log_tree(out, arena);
}
