/* Replies as providers send them. */
#include "streams.h"

#define EVENT(data)       "data: " data "\n\n"
#define NAMED(name, data) "event: " name "\ndata: " data "\n\n"

static const char chat_stream[] = ": keep-alive\n\n" EVENT(
	"{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,"
	"\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}],\"usage\":null}")
	EVENT("{\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"Hm\xC3\xA4\"},\"finish_reason\":null}]}") EVENT(
		"{\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"…\"},\"finish_reason\":null}]}")
		EVENT("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Gr\xC3\xBC\xC3\x9F\"},\"finish_reason\":null}]}") EVENT(
			"{\"choices\":[{\"index\":0,\"delta\":{\"content\":\" \\ud83d\\ude00\"},\"finish_reason\":null}]}")
			EVENT("{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_a\",\"type\":\"function\","
			      "\"function\":{\"name\":\"grep\",\"arguments\":\"\"}}]},\"finish_reason\":null}]}")
				EVENT("{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"p\\\":\"}}]},"
				      "\"finish_reason\":null}]}")
					EVENT("{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"call_b\",\"type\":\"function\","
					      "\"function\":{\"name\":\"glob\",\"arguments\":\"[1\"}},{\"index\":0,\"function\":{\"arguments\":\"1}\"}}]},"
					      "\"finish_reason\":null}]}")
						EVENT("{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}")
							EVENT("{\"choices\":[],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":7,\"total_tokens\":27,"
							      "\"prompt_tokens_details\":{\"cached_tokens\":12}}}")
								EVENT("[DONE]");

static const char chat_body[] =
	"{\"id\":\"c\",\"object\":\"chat.completion\",\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
	"\"content\":\"Gr\xC3\xBC\xC3\x9F \\ud83d\\ude00\",\"reasoning_content\":\"Hm\xC3\xA4…\",\"tool_calls\":[{\"id\":\"call_a\","
	"\"type\":\"function\",\"function\":{\"name\":\"grep\",\"arguments\":\"{\\\"p\\\":1}\"}},{\"id\":\"call_b\",\"type\":"
	"\"function\",\"function\":{\"name\":\"glob\",\"arguments\":\"[1\"}}]},\"finish_reason\":\"tool_calls\"}],\"usage\":"
	"{\"prompt_tokens\":20,\"completion_tokens\":7,\"prompt_cache_hit_tokens\":12}}";

static const char chat_expected[] =
	"think[Hm\xC3\xA4…] text[Gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80] call[call_a grep {\"p\":1}] "
	"call[call_b glob malformed [1] stop calls usage 20/7/12/0";

static const char responses_stream[] = NAMED(
	"response.created",
	"{\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"r\",\"status\":\"in_progress\",\"error\":null,"
	"\"output\":[]}}") NAMED("response.output_item.added",
				 "{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"id\":\"rs_1\",\"type\":\"reasoning\","
				 "\"summary\":[]}}") NAMED("response.reasoning_summary_text.delta",
							   "{\"type\":\"response.reasoning_summary_text.delta\",\"item_id\":\"rs_1\",\"output_index\":0,"
							   "\"summary_index\":0,\"delta\":\"Hm\"}")
	NAMED("response.reasoning_summary_text.delta",
	      "{\"type\":\"response.reasoning_summary_text.delta\",\"item_id\":\"rs_1\",\"output_index\":0,"
	      "\"summary_index\":0,\"delta\":\"m\"}") NAMED("response.output_item.done",
							    "{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"id\":\"rs_1\",\"type\":\"reasoning\","
							    "\"summary\":[{\"type\":\"summary_text\",\"text\":\"Hmm\"}],\"encrypted_content\":\"ENC\"}}")
		NAMED("response.output_item.added",
		      "{\"type\":\"response.output_item.added\",\"output_index\":1,\"item\":{\"id\":\"m_1\",\"type\":\"message\","
		      "\"role\":\"assistant\",\"content\":[]}}") NAMED("response.output_text.delta",
								       "{\"type\":\"response.output_text.delta\",\"output_index\":1,\"content_index\":0,\"delta\":\"Gr\xC3\xBC\"}")
			NAMED("response.output_text.delta",
			      "{\"type\":\"response.output_text.delta\",\"output_index\":1,\"content_index\":0,\"delta\":\"\xC3\x9F\"}")
				NAMED("response.output_item.done",
				      "{\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":{\"id\":\"m_1\",\"type\":\"message\","
				      "\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Gr\xC3\xBC\xC3\x9F\"}]}}")
					NAMED("response.output_item.added",
					      "{\"type\":\"response.output_item.added\",\"output_index\":2,\"item\":{\"id\":\"fc_1\",\"type\":"
					      "\"function_call\",\"call_id\":\"call_a\",\"name\":\"grep\",\"arguments\":\"\"}}")
						NAMED("response.function_call_arguments.delta",
						      "{\"type\":\"response.function_call_arguments.delta\",\"output_index\":2,\"delta\":\"{\\\"p\\\":\"}")
							NAMED("response.function_call_arguments.delta",
							      "{\"type\":\"response.function_call_arguments.delta\",\"output_index\":2,\"delta\":\"1}\"}")
								NAMED("response.function_call_arguments.done",
								      "{\"type\":\"response.function_call_arguments.done\",\"output_index\":2,\"arguments\":\"{\\\"p\\\":1}\"}")
									NAMED("response.output_item.done",
									      "{\"type\":\"response.output_item.done\",\"output_index\":2,\"item\":{\"id\":\"fc_1\",\"type\":"
									      "\"function_call\",\"call_id\":\"call_a\",\"name\":\"grep\",\"arguments\":\"{\\\"p\\\":1}\"}}")
										NAMED("response.completed",
										      "{\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"error\":null,\"output\":[],"
										      "\"usage\":{\"input_tokens\":20,\"input_tokens_details\":{\"cached_tokens\":12},\"output_tokens\":7,"
										      "\"output_tokens_details\":{\"reasoning_tokens\":3},\"total_tokens\":27}}}");

static const char responses_body[] =
	"{\"id\":\"r\",\"object\":\"response\",\"status\":\"completed\",\"error\":null,\"output\":[{\"id\":\"rs_1\",\"type\":"
	"\"reasoning\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"Hmm\"}],\"encrypted_content\":\"ENC\"},{\"id\":\"m_1\","
	"\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Gr\xC3\xBC\xC3\x9F\"}]},"
	"{\"id\":\"fc_1\",\"type\":\"function_call\",\"call_id\":\"call_a\",\"name\":\"grep\",\"arguments\":\"{\\\"p\\\":1}\"}],"
	"\"usage\":{\"input_tokens\":20,\"input_tokens_details\":{\"cached_tokens\":12},\"output_tokens\":7}}";

static const char responses_expected[] =
	"think[Hmm id rs_1 data ENC] text[Gr\xC3\xBC\xC3\x9F] call[call_a grep {\"p\":1}] stop calls usage "
	"20/7/12/0";

static const char messages_stream[] = NAMED(
	"message_start",
	"{\"type\":\"message_start\",\"message\":{\"id\":\"msg\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\","
	"\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":12,"
	"\"cache_creation_input_tokens\":3,\"output_tokens\":1}}}") NAMED("content_block_start",
									  "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\","
									  "\"signature\":\"\"}}")
	NAMED("ping", "{\"type\":\"ping\"}") NAMED(
		"content_block_delta",
		"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"Hm\"}}")
		NAMED("content_block_delta", "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"m\"}}") NAMED(
			"content_block_delta",
			"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"SIG\"}}")
			NAMED("content_block_stop", "{\"type\":\"content_block_stop\",\"index\":0}") NAMED(
				"content_block_start",
				"{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"redacted_thinking\","
				"\"data\":\"RED\"}}") NAMED("content_block_stop",
							    "{\"type\":\"content_block_stop\",\"index\":1}")
				NAMED("content_block_start", "{\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}") NAMED(
					"content_block_delta",
					"{\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"text_delta\",\"text\":\"Gr\xC3\xBC\"}}")
					NAMED("content_block_delta",
					      "{\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"text_delta\",\"text\":\"\xC3\x9F\"}}")
						NAMED("content_block_stop", "{\"type\":\"content_block_stop\",\"index\":2}") NAMED(
							"content_block_start",
							"{\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_a\","
							"\"name\":\"grep\",\"input\":{}}}") NAMED("content_block_delta",
												  "{\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":"
												  "\"{\\\"p\\\":\"}}")
							NAMED("content_block_delta",
							      "{\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":"
							      "\" 1}\"}}") NAMED("content_block_stop",
										 "{\"type\":\"content_block_stop\",\"index\":3}")
								NAMED("content_block_start",
								      "{\"type\":\"content_block_start\",\"index\":4,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_b\","
								      "\"name\":\"glob\",\"input\":{}}}")
									NAMED("content_block_stop",
									      "{\"type\":\"content_block_stop\",\"index\":4}")
										NAMED("message_delta",
										      "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":null},\"usage\":"
										      "{\"output_tokens\":7}}")
											NAMED("message_stop",
											      "{\"type\":\"message_stop\"}");

static const char messages_body[] =
	"{\"id\":\"msg\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[{\"type\":\"thinking\",\"thinking\":"
	"\"Hmm\",\"signature\":\"SIG\"},{\"type\":\"redacted_thinking\",\"data\":\"RED\"},{\"type\":\"text\",\"text\":"
	"\"Gr\xC3\xBC\xC3\x9F\"},{\"type\":\"tool_use\",\"id\":\"toolu_a\",\"name\":\"grep\",\"input\":{\"p\":1}},{\"type\":\"tool_use\","
	"\"id\":\"toolu_b\",\"name\":\"glob\",\"input\":{}}],\"stop_reason\":\"tool_use\",\"usage\":{\"input_tokens\":5,"
	"\"cache_read_input_tokens\":12,\"cache_creation_input_tokens\":3,\"output_tokens\":7}}";

static const char messages_expected[] =
	"think[Hmm signature SIG] think[ data RED] text[Gr\xC3\xBC\xC3\x9F] call[toolu_a grep {\"p\":1}] "
	"call[toolu_b glob {}] stop calls usage 17/7/12/3";

const struct sample samples[] = {
	{ "chat stream", &wire_openai_chat, true, chat_stream, chat_expected },
	{ "chat", &wire_openai_chat, false, chat_body, chat_expected },
	{ "responses stream", &wire_openai_responses, true, responses_stream, responses_expected },
	{ "responses", &wire_openai_responses, false, responses_body, responses_expected },
	{ "messages stream", &wire_anthropic, true, messages_stream, messages_expected },
	{ "messages", &wire_anthropic, false, messages_body, messages_expected },
};
const size_t sample_count = sizeof(samples) / sizeof(samples[0]);
