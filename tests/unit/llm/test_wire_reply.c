/* Replies in the three wire formats: whole, cut at every byte, split at every byte, hostile. */
#include <criterion/criterion.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "streams.h"

static struct arena arena;

static void forget(void)
{
	arena_done(&arena);
}

TestSuite(wire_reply, .fini = forget, .timeout = 120);

struct heard {
	struct buf text, thinking, calls;
};

static void hear(void *context, enum llm_part part, struct str delta)
{
	struct heard *heard = context;
	size_t bad;
	cr_assert(utf8_valid(delta, &bad), "a piece splits a character");
	buf_add(part == LLM_PART_TEXT       ? &heard->text
		: part == LLM_PART_THINKING ? &heard->thinking
					    : &heard->calls,
		delta);
}

static void heard_done(struct heard *heard)
{
	buf_done(&heard->text);
	buf_done(&heard->thinking);
	buf_done(&heard->calls);
}

static struct str result_text(const struct llm_result *result)
{
	AUTO(buf) out = { 0 };
	for (size_t i = 0; i < result->thinking.count; i++) {
		const struct run_turn_thinking *one = &result->thinking.at[i];
		buf_add_format(&out, "think[" STR_FMT, STR_ARG(one->text));
		if (has(one, id))
			buf_add_format(&out, " id " STR_FMT, STR_ARG(one->id));
		if (has(one, signature))
			buf_add_format(&out, " signature " STR_FMT, STR_ARG(one->signature));
		if (has(one, data))
			buf_add_format(&out, " data " STR_FMT, STR_ARG(one->data));
		buf_add(&out, S("] "));
	}
	buf_add_format(&out, "text[" STR_FMT "] ", STR_ARG(result->text));
	for (size_t i = 0; i < result->calls.count; i++) {
		const struct run_turn_call *call = &result->calls.at[i];
		struct str arguments = has(call, arguments)
					       ? json_print(&arena, call->arguments)
					       : str_format(&arena, "malformed " STR_FMT,
							    STR_ARG(call->malformed));
		buf_add_format(&out, "call[" STR_FMT " " STR_FMT " " STR_FMT "] ",
			       STR_ARG(call->id), STR_ARG(call->name), STR_ARG(arguments));
	}
	buf_add_format(&out, "stop " STR_FMT, STR_ARG(run_turn_stop_name(result->stop)));
	if (result->usage != NULL)
		buf_add_format(&out, " usage %lld/%lld/%lld/%lld",
			       (long long)result->usage->input_tokens,
			       (long long)result->usage->output_tokens,
			       (long long)result->usage->cache_read_tokens,
			       (long long)result->usage->cache_creation_tokens);
	return str_copy(&arena, buf_str(&out));
}

/* Reads the bytes, split behind `split`; "" and the error if they are no reply. */
static struct str read_reply(const struct wire *wire, bool streams, struct str bytes, size_t split,
			     struct error *error)
{
	struct wire_reply reply;
	struct heard heard = { 0 };
	struct llm_result result;
	struct str text = S("");
	wire_reply_init(&reply, wire, streams, hear, &heard);
	wire_reply_feed(&reply, str_head(bytes, split));
	wire_reply_feed(&reply, str_skip(bytes, split < bytes.size ? split : bytes.size));
	*error = (struct error){ 0 };
	if (wire_reply_end(&reply, S("call_x"), &result, error)) {
		text = result_text(&result);
		cr_assert(str_equal(buf_str(&heard.text), result.text),
			  "the text is not what its pieces were");
	}
	wire_reply_done(&reply);
	heard_done(&heard);
	return text;
}

static struct str read_text(const struct wire *wire, bool streams, const char *bytes,
			    struct error *error)
{
	return read_reply(wire, streams, str_from_c(bytes), 0, error);
}

Test(wire_reply, every_sample_is_read)
{
	for (size_t i = 0; i < sample_count; i++) {
		struct error error;
		struct str got =
			read_text(samples[i].wire, samples[i].streams, samples[i].bytes, &error);
		cr_expect(str_equal(got, str_from_c(samples[i].expected)), "%s: %s " STR_FMT,
			  samples[i].name, error.text, STR_ARG(got));
	}
}

Test(wire_reply, a_reply_that_is_cut_at_any_byte_is_no_reply)
{
	for (size_t i = 0; i < sample_count; i++) {
		struct str whole = str_from_c(samples[i].bytes);
		for (size_t cut = 0; cut < whole.size; cut++) {
			struct error error;
			struct str got = read_reply(samples[i].wire, samples[i].streams,
						    str_head(whole, cut), 0, &error);
			cr_assert(got.size == 0 && error.code == ERROR_UNAVAILABLE,
				  "%s, cut at %zu of %zu: code %d " STR_FMT, samples[i].name, cut,
				  whole.size, (int)error.code, STR_ARG(got));
			arena_reset(&arena);
		}
	}
}

Test(wire_reply, splitting_changes_nothing)
{
	for (size_t i = 0; i < sample_count; i++) {
		struct str whole = str_from_c(samples[i].bytes);
		for (size_t split = 0; split <= whole.size; split++) {
			struct error error;
			struct str got = read_reply(samples[i].wire, samples[i].streams, whole,
						    split, &error);
			cr_assert(str_equal(got, str_from_c(samples[i].expected)),
				  "%s, split at %zu: %s", samples[i].name, split, error.text);
			arena_reset(&arena);
		}
	}
}

/* ---- ends ------------------------------------------------------------------------------ */

static void expect(const struct wire *wire, bool streams, const char *bytes, const char *expected)
{
	struct error error;
	struct str got = read_text(wire, streams, bytes, &error);
	cr_expect(str_equal(got, str_from_c(expected)), "%s: %s " STR_FMT, bytes, error.text,
		  STR_ARG(got));
}

static void expect_fault(const struct wire *wire, bool streams, const char *bytes,
			 enum error_code code, const char *part)
{
	struct error error;
	size_t at;
	struct str got = read_text(wire, streams, bytes, &error);
	cr_expect(got.size == 0 && error.code == code &&
			  str_find(str_from_c(error.text), str_from_c(part), &at),
		  "%.200s: code %d %s", bytes, (int)error.code, error.text);
}

#define CHAT_END(reason)                                                                 \
	"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"" reason \
	"\"}]}\n\n"                                                                      \
	"data: [DONE]\n\n"

Test(wire_reply, stop_reasons)
{
	expect(&wire_openai_chat, true, CHAT_END("stop"), "text[a] stop end");
	expect(&wire_openai_chat, true, CHAT_END("length"), "text[a] stop length");
	expect(&wire_openai_chat, true, CHAT_END("content_filter"), "text[a] stop refused");
	expect(&wire_openai_chat, true, CHAT_END("eos"), "text[a] stop other");
	expect(&wire_openai_chat, true, CHAT_END("tool_calls"), "text[a] stop end");
	expect(&wire_openai_chat, false,
	       "{\"choices\":[{\"message\":{\"content\":null,\"refusal\":\"No.\"},\"finish_reason\":\"stop\"}]}",
	       "text[No.] stop refused");
	expect(&wire_anthropic, false,
	       "{\"content\":[],\"stop_reason\":\"refusal\",\"usage\":{\"input_tokens\":1,\"output_tokens\":0}}",
	       "text[] stop refused usage 1/0/0/0");
	expect(&wire_anthropic, false,
	       "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}],\"stop_reason\":\"max_tokens\"}",
	       "text[a] stop length");
	expect(&wire_openai_responses, false,
	       "{\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":\"max_output_tokens\"},\"output\":[]}",
	       "text[] stop length");
	expect(&wire_openai_responses, false,
	       "{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":[{\"type\":\"refusal\",\"refusal\":"
	       "\"No.\"}]}]}",
	       "text[No.] stop refused");
}

Test(wire_reply, the_end_of_a_stream_is_required)
{
	expect_fault(
		&wire_openai_chat, true,
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n",
		ERROR_UNAVAILABLE, "was cut");
	expect_fault(&wire_openai_chat, true,
		     "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n",
		     ERROR_UNAVAILABLE, "was cut");
	expect_fault(&wire_anthropic, true, "data: {\"type\":\"message_stop\"}\n\n",
		     ERROR_UNAVAILABLE, "was cut");
	expect_fault(&wire_openai_chat, true, "", ERROR_UNAVAILABLE, "was cut");
}

Test(wire_reply, ids_of_calls_are_made_up_and_unique)
{
	expect(&wire_openai_chat, false,
	       "{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"x\",\"arguments\":\"\"}},"
	       "{\"id\":\"a\",\"function\":{\"name\":\"y\",\"arguments\":\"{}\"}},{\"function\":{\"name\":\"z\",\"arguments\":"
	       "\"3\"}}]},\"finish_reason\":\"stop\"}]}",
	       "text[] call[a x {}] call[call_x_1 y {}] call[call_x_2 z malformed 3] stop calls");
}

/* ---- faults in a stream ------------------------------------------------------------------ */

Test(wire_reply, errors_in_a_stream_have_a_code)
{
	expect_fault(
		&wire_anthropic, true,
		"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":"
		"\"Overloaded\"}}\n\n",
		ERROR_OVERLOADED, "Overloaded");
	expect_fault(
		&wire_openai_chat, true,
		"data: {\"error\":{\"message\":\"bad\\nthing\",\"type\":\"server_error\"}}\n\n",
		ERROR_UNAVAILABLE, "bad thing");
	expect_fault(
		&wire_openai_responses, true,
		"data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":"
		"\"rate_limit_exceeded\",\"message\":\"slow\"}}}\n\n",
		ERROR_RATE_LIMITED, "slow");
	expect_fault(
		&wire_openai_responses, true,
		"data: {\"type\":\"error\",\"code\":\"context_length_exceeded\",\"message\":\"long\"}\n\n",
		ERROR_TOO_LARGE, "long");
	expect_fault(&wire_openai_chat, false, "{\"error\":\"no\"}", ERROR_UNAVAILABLE, "no");
	expect_fault(
		&wire_anthropic, false,
		"{\"type\":\"error\",\"error\":{\"type\":\"not_found_error\",\"message\":\"model: x\"}}",
		ERROR_INVALID, "model: x");
}

/* ---- hostile replies --------------------------------------------------------------------- */

Test(wire_reply, garbage_is_refused)
{
	expect_fault(&wire_openai_chat, true, "data: {\"choices\":\n\n", ERROR_INVALID,
		     "event 1 of the stream is not a JSON object");
	expect_fault(&wire_openai_chat, true, "data: 7\n\n", ERROR_INVALID, "event 1");
	expect_fault(&wire_openai_chat, true, "data: {\"a\":\"\xC3\"}\n\n", ERROR_INVALID,
		     "event 1");
	expect_fault(&wire_anthropic, false, "<html>", ERROR_UNAVAILABLE, "not JSON");
	expect_fault(&wire_openai_chat, false, "{\"choices\":[]}", ERROR_UNAVAILABLE, "was cut");
	expect_fault(&wire_openai_chat, false, "[]", ERROR_UNAVAILABLE, "was cut");
	expect_fault(&wire_openai_responses, false, "{}", ERROR_UNAVAILABLE, "the provider failed");
}

static struct str repeat(const char *text, size_t times)
{
	AUTO(buf) all = { 0 };
	for (size_t i = 0; i < times; i++)
		buf_add(&all, str_from_c(text));
	return str_copy(&arena, buf_str(&all));
}

static enum error_code code_of(const struct wire *wire, bool streams, struct str bytes,
			       const char *part)
{
	struct error error;
	size_t at;
	read_reply(wire, streams, bytes, 0, &error);
	cr_expect(str_find(str_from_c(error.text), str_from_c(part), &at), "%s", error.text);
	return error.code;
}

Test(wire_reply, too_many_calls_are_refused)
{
	AUTO(buf) text = { 0 };
	for (int i = 0; i < 10000; i++)
		buf_add_format(
			&text,
			"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":%d,\"id\":\"c%d\",\"function\":"
			"{\"name\":\"x\",\"arguments\":\"{}\"}}]}}]}\n\n",
			i, i);
	cr_expect_eq(code_of(&wire_openai_chat, true, buf_str(&text), "more than 256 calls"),
		     ERROR_INVALID);
}

Test(wire_reply, arguments_of_two_megabytes_are_refused)
{
	struct str piece = repeat("a", 1024);
	AUTO(buf) text = { 0 };
	for (int i = 0; i < 2048; i++)
		buf_add_format(
			&text,
			"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
			"\"input_json_delta\",\"partial_json\":\"" STR_FMT "\"}}\n\n",
			STR_ARG(piece));
	cr_expect_eq(code_of(&wire_anthropic, true, buf_str(&text), "the arguments of a call"),
		     ERROR_INVALID);
}

Test(wire_reply, deep_arguments_are_malformed)
{
	struct str deep = repeat("[", 10000);
	AUTO(buf) text = { 0 };
	buf_add_format(
		&text,
		"{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"x\",\"arguments\":"
		"\"{\\\"a\\\":" STR_FMT "\"}}]},\"finish_reason\":\"stop\"}]}",
		STR_ARG(deep));
	struct error error;
	struct str got = read_reply(&wire_openai_chat, false, buf_str(&text), 0, &error);
	cr_expect(str_starts(got, S("text[] call[a x malformed {\"a\":[[[")));
}

Test(wire_reply, a_long_event_and_an_endless_stream_are_given_up)
{
	struct str event =
		str_format(&arena, "data: " STR_FMT, STR_ARG(repeat("aaaaaaaaaaaaaaaa", 700000)));
	cr_expect_eq(code_of(&wire_openai_chat, true, event, "an event of the stream is larger"),
		     ERROR_INVALID);
	struct wire_reply reply;
	struct str pings = repeat(": ping ping ping ping\n\n", 50000);
	size_t fed = 0;
	wire_reply_init(&reply, &wire_openai_chat, true, NULL, NULL);
	for (; reply.error.code == ERROR_NONE; fed += pings.size) {
		cr_assert_lt(fed, 2 * (size_t)LIMIT_MODEL_STREAM_BYTES);
		wire_reply_feed(&reply, pings);
	}
	cr_expect_eq(reply.error.code, ERROR_INVALID);
	wire_reply_done(&reply);
	struct str body = repeat("          ", LIMIT_MODEL_BODY_BYTES / 10 + 1);
	cr_expect_eq(code_of(&wire_openai_chat, false, body, "larger than"), ERROR_INVALID);
}

Test(wire_reply, a_long_text_is_refused)
{
	struct str piece = repeat("b", 4096);
	AUTO(buf) text = { 0 };
	for (int i = 0; i < 300; i++)
		buf_add_format(&text,
			       "data: {\"choices\":[{\"delta\":{\"content\":\"" STR_FMT
			       "\"}}]}\n\n",
			       STR_ARG(piece));
	cr_expect_eq(code_of(&wire_openai_chat, true, buf_str(&text), "the reply is larger"),
		     ERROR_INVALID);
}
