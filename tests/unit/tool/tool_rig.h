/* tests/unit/tool/tool_rig.h -- calls a built-in tool on a loop of its own. */
#ifndef TESTS_TOOL_RIG_H
#define TESTS_TOOL_RIG_H

#include <criterion/criterion.h>
#include <string.h>

#include "artifact/artifact.h"
#include "os/loop.h"
#include "sandbox/sandbox.h"
#include "tests/unit/folder.h"
#include "tool/custom_tools.h"
#include "tool/tool_context.h"

struct rig {
	struct loop *loop;
	struct artifacts *artifacts;
	struct custom_tools *customs;
	struct tool_context *tool_context;
	struct tool_host host;
	struct arena arena;
	char folder[TEST_FOLDER_SIZE]; /* with workspace/ and lines/ */
	const char *workspace;
	const char *repository; /* of the run; NULL = none */
	struct uuid run, effect;
	int lock;
	platform_callback *started; /* called shortly after the next start, with its id */
	int64_t started_us;         /* so much later; 0 = 300 ms */
	/* result of the last call: */
	int ends;
	struct error error;
	struct str output; /* JSON; "" = it failed */
	enum tool_answer answer;
};

void rig_open(struct rig *rig);
void rig_close(struct rig *rig);
const struct json *rig_json(struct rig *rig, const char *text);
/* Starts the call and runs the loop until it ends; false when it did not start. */
bool rig_call(struct rig *rig, const char *tool, const char *inputs);
/* Starts the call, stops it at once, and runs the loop until it ends. */
void rig_call_and_stop(struct rig *rig, const char *tool, const char *inputs, enum error_code code);
void rig_probe(struct rig *rig, const char *tool, const char *inputs);
/* Calls a pure tool: its output as JSON, or "" with rig->error. */
struct str rig_compute(struct rig *rig, const char *tool, const char *inputs);
/* Adds a trusted custom tool with these YAML lines and this shell script as program. */
void rig_custom(struct rig *rig, const char *name, const char *yaml, const char *script);
const char *rig_path(struct rig *rig, const char *name); /* in the rig's folder */

#define expect_json(got, wanted)                                                       \
	do {                                                                           \
		struct str got_ = (got);                                               \
		cr_assert(str_equal(got_, str_from_c(wanted)), "got " STR_FMT " (%s)", \
			  STR_ARG(got_), rig->error.text);                             \
	} while (0)

#endif
