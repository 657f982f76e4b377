/* tool/tool_document.c -- generates the documents of the benchmarks; only in the benchmark build.
 *
 * Takes a document {"wf", "step", "data"} and returns the next one, with step + 1 and a slice of a
 * fixed text that depends on the step, so that the result is deterministic.
 */
#include "tool/tool.h"

enum { TEXT_SIZE = 65536, DATA_SIZE = 160, DATA_STRIDE = 157 };

static const char *fixed_text(void)
{
	static char text[TEXT_SIZE]; /* generated on first use */
	static bool generated;
	uint32_t x = 12345;
	for (size_t i = 0; !generated && i < sizeof(text); i++) {
		x = x * 1103515245 + 12345;
		text[i] = (char)('a' + (x >> 16) % 26);
	}
	generated = true;
	return text;
}

static bool compute(const struct json *inputs, struct arena *arena, const struct json **out_output,
		    struct error *error)
{
	const struct json *document = json_member(inputs, S("document"));
	const struct json *step = json_member(document, S("step"));
	struct str workflow = json_text(json_member(document, S("wf")));
	if (step == NULL || step->kind != JSON_INT)
		return fail(error, ERROR_INVALID,
			    "inputs: document must have a whole number `step`");
	uint64_t from = DATA_STRIDE * (uint64_t)step->as.integer % (TEXT_SIZE - DATA_SIZE);
	struct str text = str_format(
		arena, "{\"document\":{\"wf\":\"" STR_FMT "\",\"step\":%lld,\"data\":\"%.*s\"}}",
		STR_ARG(workflow), (long long)step->as.integer + 1, DATA_SIZE, fixed_text() + from);
	return json_read(text, arena, out_output, error);
}

const struct tool tool_document = {
	.name = "document",
	.text = "Returns the next document of a benchmark's chain.",
	.class = RUN_CLASS_PURE,
	.risk = RUN_RISK_LOW,
	.compute = compute,
};
