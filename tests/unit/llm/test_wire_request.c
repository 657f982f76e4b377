/* One turn in the three wire formats, as JSON. */
#include <criterion/criterion.h>

#include "llm/wire.h"

static struct arena arena;

static void forget(void)
{
	arena_done(&arena);
}

TestSuite(wire_request, .fini = forget);

static const char turn_text[] =
	"{\"system\":\"Be brief.\",\"messages\":["
	"{\"role\":\"user\",\"content\":\"Look.\",\"parts\":[{\"kind\":\"image\",\"media_type\":\"image/png\",\"data\":\"QUJD\"}]},"
	"{\"role\":\"assistant\",\"content\":\"\",\"thinking\":[{\"text\":\"Hm\",\"id\":\"rs\",\"data\":\"ENC\"},{\"text\":\"Mh\",\"signature\":"
	"\"SIG\"},{\"text\":\"\",\"data\":\"RED\"}],\"calls\":[{\"id\":\"a\",\"name\":\"grep\",\"arguments\":{\"p\":1}},{\"id\":\"b\",\"name\":"
	"\"glob\",\"malformed\":\"[1\"}]},"
	"{\"role\":\"tool\",\"content\":\"found\",\"call\":\"a\",\"tool\":\"grep\",\"parts\":[{\"kind\":\"image\",\"media_type\":"
	"\"image/jpeg\",\"data\":\"REVG\"}]},"
	"{\"role\":\"tool\",\"content\":\"no such tool\",\"call\":\"b\",\"tool\":\"glob\",\"failed\":true},"
	"{\"role\":\"assistant\",\"content\":\"Done.\"},"
	"{\"role\":\"user\",\"content\":\"Go on.\"}],"
	"\"tools\":[{\"name\":\"grep\",\"text\":\"Searches.\",\"parameters\":{\"type\":\"object\",\"properties\":{\"p\":{\"type\":\"integer\"}}}},"
	"{\"name\":\"glob\",\"text\":\"Lists.\"}],\"schema\":{\"type\":\"object\"},\"temperature\":0.5}";

static const struct run_turn *turn_of(const char *text)
{
	struct contract_source source = { .text = str_from_c(text) };
	struct problems problems = { .arena = &arena };
	struct error error;
	cr_assert(json_read(source.text, &arena, &source.json, &error), "%s", error.text);
	const struct run_turn *turn = run_turn_parse(&source, &arena, &problems);
	cr_assert(turn != NULL, STR_FMT, STR_ARG(problems_text(&problems, &arena)));
	return turn;
}

static const struct json *json_of(struct str text)
{
	const struct json *json;
	struct error error;
	cr_assert(json_read(text, &arena, &json, &error), "%s in " STR_FMT, error.text,
		  STR_ARG(text));
	return json;
}

static struct str write_request(const struct wire *wire, struct wire_request request)
{
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	struct error error;
	cr_assert(wire->request(&request, &writer, &error), "%s", error.text);
	return str_copy(&arena, buf_str(&text));
}

static void expect(const struct wire *wire, struct wire_request request, const char *expected)
{
	struct str got = write_request(wire, request);
	cr_expect(json_equal(json_of(got), json_of(str_from_c(expected))), STR_FMT, STR_ARG(got));
}

static struct wire_request request_of(const char *text)
{
	return (struct wire_request){ .turn = turn_of(text), .model = S("m"), .max_tokens = 100 };
}

Test(wire_request, chat)
{
	struct wire_request request = request_of(turn_text);
	request.stream = true;
	expect(&wire_openai_chat, request,
	       "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"},"
	       "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Look.\"},{\"type\":\"image_url\",\"image_url\":{\"url\":"
	       "\"data:image/png;base64,QUJD\"}}]},"
	       "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"grep\","
	       "\"arguments\":\"{\\\"p\\\":1}\"}},{\"id\":\"b\",\"type\":\"function\",\"function\":{\"name\":\"glob\",\"arguments\":"
	       "\"{\\\"malformed\\\":\\\"[1\\\"}\"}}]},"
	       "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"found\"},"
	       "{\"role\":\"tool\",\"tool_call_id\":\"b\",\"content\":\"Error: no such tool\"},"
	       "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Returned by the call a:\"},{\"type\":\"image_url\","
	       "\"image_url\":{\"url\":\"data:image/jpeg;base64,REVG\"}}]},"
	       "{\"role\":\"assistant\",\"content\":\"Done.\"},{\"role\":\"user\",\"content\":\"Go on.\"}],"
	       "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"grep\",\"description\":\"Searches.\",\"parameters\":{\"type\":"
	       "\"object\",\"properties\":{\"p\":{\"type\":\"integer\"}}}}},{\"type\":\"function\",\"function\":{\"name\":\"glob\","
	       "\"description\":\"Lists.\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}}],"
	       "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"reply\",\"schema\":{\"type\":\"object\"}}},"
	       "\"temperature\":0.5,\"max_tokens\":100,\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
}

Test(wire_request, chat_quirks)
{
	struct wire_request request = request_of(
		"{\"system\":\"S\",\"messages\":[{\"role\":\"assistant\",\"content\":\"\",\"thinking\":[{\"text\":\"Hm\"}],\"calls\":"
		"[{\"id\":\"a\",\"name\":\"x\",\"arguments\":{}}]}],\"schema\":{\"type\":\"object\"},\"temperature\":1}");
	request.quirks = WIRE_JSON_OBJECT | WIRE_COMPLETION_TOKENS | WIRE_REASONING_BACK;
	request.effort = S("low");
	expect(&wire_openai_chat, request,
	       "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"S\\n\\nYour final reply must be one JSON value, "
	       "without other text, that is valid against this JSON Schema:\\n{\\\"type\\\":\\\"object\\\"}\"},{\"role\":\"assistant\","
	       "\"content\":null,\"reasoning_content\":\"Hm\",\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":"
	       "\"x\",\"arguments\":\"{}\"}}]}],\"response_format\":{\"type\":\"json_object\"},\"max_completion_tokens\":100,"
	       "\"reasoning_effort\":\"low\",\"stream\":false}");
}

Test(wire_request, responses)
{
	struct wire_request request = request_of(turn_text);
	request.stream = true;
	request.effort = S("high");
	expect(&wire_openai_responses, request,
	       "{\"model\":\"m\",\"instructions\":\"Be brief.\",\"input\":["
	       "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"Look.\"},{\"type\":\"input_image\","
	       "\"image_url\":\"data:image/png;base64,QUJD\"}]},"
	       "{\"type\":\"reasoning\",\"id\":\"rs\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"Hm\"}],\"encrypted_content\":"
	       "\"ENC\"},"
	       "{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\"grep\",\"arguments\":\"{\\\"p\\\":1}\"},"
	       "{\"type\":\"function_call\",\"call_id\":\"b\",\"name\":\"glob\",\"arguments\":\"{\\\"malformed\\\":\\\"[1\\\"}\"},"
	       "{\"type\":\"function_call_output\",\"call_id\":\"a\",\"output\":[{\"type\":\"input_text\",\"text\":\"found\"},{\"type\":"
	       "\"input_image\",\"image_url\":\"data:image/jpeg;base64,REVG\"}]},"
	       "{\"type\":\"function_call_output\",\"call_id\":\"b\",\"output\":\"Error: no such tool\"},"
	       "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Done.\"}]},"
	       "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"Go on.\"}]}],"
	       "\"tools\":[{\"type\":\"function\",\"name\":\"grep\",\"description\":\"Searches.\",\"parameters\":{\"type\":\"object\","
	       "\"properties\":{\"p\":{\"type\":\"integer\"}}},\"strict\":false},{\"type\":\"function\",\"name\":\"glob\",\"description\":"
	       "\"Lists.\",\"parameters\":{\"type\":\"object\",\"properties\":{}},\"strict\":false}],"
	       "\"text\":{\"format\":{\"type\":\"json_schema\",\"name\":\"reply\",\"schema\":{\"type\":\"object\"},\"strict\":false}},"
	       "\"max_output_tokens\":100,\"reasoning\":{\"effort\":\"high\",\"summary\":\"auto\"},\"include\":"
	       "[\"reasoning.encrypted_content\"],\"store\":false,\"stream\":true}");
}

Test(wire_request, messages)
{
	struct wire_request request = request_of(turn_text);
	request.stream = true;
	request.cache = true;
	expect(&wire_anthropic, request,
	       "{\"model\":\"m\",\"max_tokens\":100,\"system\":[{\"type\":\"text\",\"text\":\"Be brief.\\n\\nYour final reply must be one "
	       "JSON value, without other text, that is valid against this JSON Schema:\\n{\\\"type\\\":\\\"object\\\"}\",\"cache_control\":"
	       "{\"type\":\"ephemeral\"}}],\"messages\":["
	       "{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":"
	       "\"QUJD\"}},{\"type\":\"text\",\"text\":\"Look.\"}]},"
	       "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"Mh\",\"signature\":\"SIG\"},{\"type\":"
	       "\"redacted_thinking\",\"data\":\"RED\"},{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"grep\",\"input\":{\"p\":1}},{\"type\":"
	       "\"tool_use\",\"id\":\"b\",\"name\":\"glob\",\"input\":{\"malformed\":\"[1\"}}]},"
	       "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":[{\"type\":\"text\",\"text\":"
	       "\"found\"},{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/jpeg\",\"data\":\"REVG\"}}]},{\"type\":"
	       "\"tool_result\",\"tool_use_id\":\"b\",\"content\":[{\"type\":\"text\",\"text\":\"no such tool\"}],\"is_error\":true}]},"
	       "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Done.\"}]},"
	       "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Go on.\",\"cache_control\":{\"type\":\"ephemeral\"}}]}],"
	       "\"tools\":[{\"name\":\"grep\",\"description\":\"Searches.\",\"input_schema\":{\"type\":\"object\",\"properties\":{\"p\":"
	       "{\"type\":\"integer\"}}}},{\"name\":\"glob\",\"description\":\"Lists.\",\"input_schema\":{\"type\":\"object\",\"properties\":"
	       "{}},\"cache_control\":{\"type\":\"ephemeral\"}}],\"temperature\":0.5,\"stream\":true}");
}

Test(wire_request, messages_with_thinking_and_odd_messages)
{
	struct wire_request request = request_of(
		"{\"system\":\"\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":\"\"},"
		"{\"role\":\"user\",\"content\":\"\"},{\"role\":\"user\",\"content\":\"b\"},{\"role\":\"tool\",\"content\":\"\",\"call\":\"c\"}],"
		"\"temperature\":2}");
	request.thinking_tokens = 2048;
	expect(&wire_anthropic, request,
	       "{\"model\":\"m\",\"max_tokens\":2148,\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]},"
	       "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"b\"},{\"type\":\"tool_result\",\"tool_use_id\":\"c\"}]}],"
	       "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2048},\"stream\":false}");
	request.thinking_tokens = 0;
	size_t at;
	cr_expect(str_find(write_request(&wire_anthropic, request), S("\"temperature\":1,"), &at));
}

Test(wire_request, audio)
{
	const char *text =
		"{\"system\":\"\",\"messages\":[{\"role\":\"user\",\"content\":\"\",\"parts\":[{\"kind\":\"audio\",\"media_type\":\"audio/mpeg\","
		"\"data\":\"QQ==\"}]}]}";
	struct wire_request request = request_of(text);
	size_t at;
	cr_expect(str_find(
		write_request(&wire_openai_chat, request),
		S("{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"QQ==\",\"format\":\"mp3\"}}"),
		&at));
	AUTO(buf) out = { 0 };
	struct json_writer writer = { .out = &out };
	struct error error;
	cr_expect_not(wire_anthropic.request(&request, &writer, &error));
	cr_expect(error.code == ERROR_INVALID &&
		  str_find(str_from_c(error.text), S("no audio"), &at));
}
