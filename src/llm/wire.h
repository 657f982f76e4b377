/* llm/wire.h -- wire formats of models' HTTP APIs: a turn becomes a request, bytes become a reply.
 *
 * One file wire_<provider>_<format>.c for each format, with a struct wire.  All of it is pure: no
 * clock, no network; the driver `api` (llm_api.c) moves the bytes.
 *
 * A reply is gathered in a struct wire_reply.  It accepts bytes in pieces of any size; how they are
 * split changes nothing.  wire_reply_end() gives the reply only if the format's own end was seen: a
 * stream that is cut at any byte is never a reply.  Everything is bounded by contracts/limits.def; the
 * first violation sets `error`, and further bytes are ignored.
 *
 * Usage is normalized: input_tokens are all input tokens, including those read from and written to
 * the provider's cache.
 */
#ifndef LLM_WIRE_H
#define LLM_WIRE_H

#include "contract/run_model_types.h"
#include "llm/llm.h"
#include "net/sse.h"

/* How a provider differs from others with the same format. */
enum wire_quirk {
	WIRE_JSON_OBJECT = 1,       /* knows JSON mode only; the schema goes into the prompt */
	WIRE_COMPLETION_TOKENS = 2, /* calls the limit max_completion_tokens */
	WIRE_REASONING_BACK = 4,    /* wants reasoning_content back with its calls */
};

struct wire_request {
	const struct run_turn *turn;
	struct str model;
	int64_t max_tokens;      /* always sent */
	bool stream, cache;      /* cache: mark the prefix that the provider shall cache */
	struct str effort;       /* "" = the provider's default */
	int64_t thinking_tokens; /* 0 = no budget is set */
	unsigned quirks;
};

/* A part of the reply that arrives in pieces. */
struct wire_block {
	enum llm_part part;
	int64_t index;        /* the provider's number of it */
	struct buf text;      /* a call's arguments */
	struct buf signature; /* of thinking */
	struct str id, name;  /* of a call; of thinking, the id */
	struct str data;      /* of thinking: its encrypted form */
	bool named;           /* the piece with the name was sent */
};

typedef void wire_piece(void *context, enum llm_part part, struct str delta);

struct wire_reply {
	const struct wire *wire;
	struct arena arena;
	struct error error; /* code NONE = good so far */
	bool ended;         /* the format's own end was seen */
	bool counted;       /* usage is known */
	struct run_turn_usage usage;

	/* Private to the formats: */
	struct sse_reader reader;
	bool streams;
	struct buf body; /* of a reply that does not stream */
	struct buf text;
	struct wire_block *blocks;
	size_t block_count, block_room;
	size_t bytes, received, events; /* kept bytes; all bytes; all events */
	bool stop_known, refused;
	enum run_turn_stop stop;
	wire_piece *piece;
	void *context;
};

struct wire {
	const char *name; /* a word of run.ModelFormat */
	const char *path; /* behind the base URL */
	/* Writes the body of the request.  Fails with INVALID if the format has no place for a part. */
	bool (*request)(const struct wire_request *request, struct json_writer *writer,
			struct error *error);
	void (*event)(struct wire_reply *reply, struct str type, struct str data);
	void (*body)(struct wire_reply *reply, const struct json *body);
};

extern const struct wire wire_openai_chat, wire_openai_responses, wire_anthropic;
const struct wire *wire_find(enum run_model_format format);

/* `streams`: server-sent events, else one JSON document. */
void wire_reply_init(struct wire_reply *reply, const struct wire *wire, bool streams,
		     wire_piece *piece, void *context);
void wire_reply_done(struct wire_reply *reply);
void wire_reply_feed(struct wire_reply *reply, struct str bytes);
/* The bytes are over.  Fills the result, which borrows from the reply; calls without an id of their
 * own get one that begins with `prefix`.  Fails with the reply's error, or with UNAVAILABLE when the
 * reply is not complete. */
MUST_CHECK bool wire_reply_end(struct wire_reply *reply, struct str prefix,
			       struct llm_result *out_result, struct error *error);

/* ---- for the formats ------------------------------------------------------------------- */

void wire_add_text(struct wire_reply *reply, struct str delta);
/* The block with this number, new if there is none; NULL after an error. */
struct wire_block *wire_block(struct wire_reply *reply, enum llm_part part, int64_t index);
void wire_block_add(struct wire_reply *reply, struct wire_block *block, struct str delta);
void wire_block_sign(struct wire_reply *reply, struct wire_block *block, struct str delta);
void wire_block_encrypted(struct wire_reply *reply, struct wire_block *block, struct str data);
void wire_block_name(struct wire_reply *reply, struct wire_block *block, struct str id,
		     struct str name);
void wire_set_stop(struct wire_reply *reply, enum run_turn_stop stop);
/* A provider's error object, in a stream or instead of a reply. */
void wire_set_fault(struct wire_reply *reply, const struct json *fault);
/* Reads the JSON of an event; NULL after an error. */
const struct json *wire_read(struct wire_reply *reply, struct str data, struct arena *arena);
int64_t wire_int(const struct json *object, struct str key); /* 0 unless a whole number from 0 on */
/* The arguments of a call as an object: {"malformed": text} of those that are none. */
void wire_put_arguments(struct json_writer *writer, const struct run_turn_call *call);
struct str wire_arguments_text(const struct run_turn_call *call, struct arena *arena);
void wire_put_parameters(struct json_writer *writer, const struct run_turn_tool *tool);
/* The system prompt with the schema behind it, for APIs without structured output. */
struct str wire_system_with_schema(const struct run_turn *turn, struct arena *arena);
/* "data:image/png;base64,…" */
struct str wire_data_url(const struct run_turn_part *part, struct arena *arena);
void wire_put_member(struct json_writer *writer, struct str key, struct str value);

#endif
