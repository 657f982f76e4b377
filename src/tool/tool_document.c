/* tool/tool_document.c -- the document maker of the bench's workloads, in the bench's build alone.
 *
 * Takes a document {"wf", "step", "data"} and gives the next one: step + 1, and a slice of a fixed
 * text that depends on the step, so that the same document always leads to the same next one.
 */
#include "tool/tool.h"

enum { TEXT_SIZE = 65536, DATA_SIZE = 160, DATA_STRIDE = 157 };

static const char *fixed_text(void)
{
	static char text[TEXT_SIZE]; /* made once, the same for everybody */
	static bool made;
	uint32_t x = 12345;
	for (size_t i = 0; !made && i < sizeof(text); i++) {
		x = x * 1103515245 + 12345;
		text[i] = (char)('a' + (x >> 16) % 26);
	}
	made = true;
	return text;
}

static bool compute(const struct json *inputs, struct arena *arena, const struct json **out_output,
		    struct error *error)
{
	const struct json *document = json_member(inputs, S("document"));
	const struct json *step = json_member(document, S("step"));
	struct str workflow = json_text(json_member(document, S("wf")));
	if (step == NULL || step->kind != JSON_INT)
		return fail(error, ERROR_INVALID, "document: give one with a whole number `step`");
	uint64_t from = DATA_STRIDE * (uint64_t)step->as.integer % (TEXT_SIZE - DATA_SIZE);
	struct str text = str_format(
		arena, "{\"document\":{\"wf\":\"" STR_FMT "\",\"step\":%lld,\"data\":\"%.*s\"}}",
		STR_ARG(workflow), (long long)step->as.integer + 1, DATA_SIZE, fixed_text() + from);
	return json_read(text, arena, out_output, error);
}

const struct tool tool_document = {
	.name = "document",
	.text = "The bench's document maker: gives the next document of a chain.",
	.class = RUN_CLASS_PURE,
	.compute = compute,
};
