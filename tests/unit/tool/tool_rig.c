#include "tool_rig.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

void rig_open(struct rig *rig)
{
	struct error error;
	memset(rig, 0, sizeof(*rig));
	test_folder_make(rig->folder);
	rig->workspace = rig_path(rig, "workspace");
	cr_assert_eq(mkdir(rig->workspace, 0700), 0);
	cr_assert(loop_new(&rig->loop, &error));
	rig->customs = custom_tools_new(rig->folder);
	rig->artifacts = artifacts_new(rig->folder);
	const struct tool_context_settings settings = { .loop = rig->loop,
							.customs = rig->customs,
							.artifacts = rig->artifacts,
							.append_root = rig_path(rig, "lines") };
	cr_assert(tool_context_new(&settings, &rig->tool_context, &error));
	rig->host = (struct tool_host){ .loop = rig->loop,
					.sandbox = sandbox_find(S("native")),
					.tool_context = rig->tool_context };
	rig->lock = open("/dev/null", O_RDONLY | O_CLOEXEC);
	cr_assert(uuid_parse(S("11111111-2222-4333-8444-555555555555"), &rig->effect));
}

void rig_close(struct rig *rig)
{
	tool_context_free(rig->tool_context);
	loop_free(rig->loop);
	custom_tools_free(rig->customs);
	artifacts_free(rig->artifacts);
	close(rig->lock);
	arena_done(&rig->arena);
	test_folder_drop(rig->folder);
}

const char *rig_path(struct rig *rig, const char *name)
{
	return str_format(&rig->arena, "%s/%s", rig->folder, name).at;
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	cr_assert_not_null(file);
	cr_assert_geq(fputs(text, file), 0);
	fclose(file);
}

void rig_custom(struct rig *rig, const char *name, const char *yaml, const char *script)
{
	struct custom_tool tool;
	struct error error;
	mkdir(rig_path(rig, "tools"), 0700);
	put(str_format(&rig->arena, "%s/tools/%s.yaml", rig->folder, name).at,
	    str_format(&rig->arena, "name: %s\ncommand: [%s]\n%s", name, name, yaml).at);
	put(str_format(&rig->arena, "%s/tools/%s", rig->folder, name).at,
	    str_format(&rig->arena, "#!/bin/sh\n%s\n", script).at);
	cr_assert(custom_tools_read(rig->customs, str_from_c(name), &rig->arena, &tool, &error));
	cr_assert(tool.untrusted, "%s", tool.why.text);
	struct run_trust *trust = run_trust_new(&rig->arena);
	SET(trust, name, str_from_c(name));
	SET(trust, definition, tool.definition_hash);
	SET(trust, program, tool.program_hash);
	custom_tools_trust(rig->customs, str_from_c(name), trust);
}

const struct json *rig_json(struct rig *rig, const char *text)
{
	const struct json *json;
	struct error error;
	cr_assert(json_read(str_from_c(text), &rig->arena, &json, &error), "%s: %s", text,
		  error.text);
	return json;
}

static void ended(void *context, uint64_t argument, const struct tool_result *result)
{
	struct rig *rig = context;
	cr_assert_eq(argument, 7);
	rig->ends++;
	rig->error = result->error;
	cr_assert_eq(result->output == NULL, result->error.code != ERROR_NONE);
	rig->output = result->output == NULL ? S("") : json_print(&rig->arena, result->output);
	loop_stop(rig->loop);
}

static void asked(void *context, uint64_t argument, enum tool_answer answer,
		  const struct json *output)
{
	struct rig *rig = context;
	cr_assert_eq(argument, 7);
	rig->ends++;
	rig->answer = answer;
	rig->output = output == NULL ? S("") : json_print(&rig->arena, output);
	loop_stop(rig->loop);
}

static struct tool_call call_of(struct rig *rig, const char *tool, const char *inputs)
{
	const struct tool *row = tool_find(&tool_table, str_from_c(tool));
	cr_assert_not_null(row, "%s", tool);
	rig->ends = 0;
	rig->error = (struct error){ 0 };
	rig->output = S("");
	return (struct tool_call){ .tool = row,
				   .name = str_from_c(tool),
				   .class = row->class,
				   .run = rig->run,
				   .effect = rig->effect,
				   .repository = rig->repository == NULL
							 ? S("")
							 : str_from_c(rig->repository),
				   .attempt = 1,
				   .inputs = rig_json(rig, inputs),
				   .workspace = rig->workspace,
				   .lock = rig->lock,
				   .done = ended,
				   .asked = asked,
				   .context = rig,
				   .argument = 7 };
}

static bool start(struct rig *rig, const struct tool_call *call, uint64_t *out_running)
{
	bool started = call->tool->start(&rig->host, call, out_running, &rig->error);
	cr_assert_eq(rig->ends, 0); /* never from inside start() */
	return started;
}

bool rig_call(struct rig *rig, const char *tool, const char *inputs)
{
	const struct tool_call call = call_of(rig, tool, inputs);
	uint64_t running;
	if (!start(rig, &call, &running))
		return false;
	if (rig->started != NULL)
		platform_timer_start(loop_platform(rig->loop),
				     rig->started_us > 0 ? rig->started_us : 300000, rig->started,
				     rig, running);
	loop_run(rig->loop);
	cr_assert_eq(rig->ends, 1);
	cr_assert_null(tool_context_find(rig->tool_context, running));
	return true;
}

void rig_call_and_stop(struct rig *rig, const char *tool, const char *inputs, enum error_code code)
{
	const struct tool_call call = call_of(rig, tool, inputs);
	uint64_t running;
	struct error why;
	fail(&why, code, "told so");
	cr_assert(start(rig, &call, &running), "%s: %s", tool, rig->error.text);
	call.tool->stop(&rig->host, running, &why);
	call.tool->stop(&rig->host, running, &why); /* stopping twice is harmless */
	cr_assert_eq(rig->ends, 0);                 /* never from inside stop() */
	loop_run(rig->loop);
	cr_assert_eq(rig->ends, 1);
	call.tool->stop(&rig->host, running, &why); /* harmless after the end */
	cr_assert_eq(rig->ends, 1);
}

void rig_probe(struct rig *rig, const char *tool, const char *inputs)
{
	const struct tool_call call = call_of(rig, tool, inputs);
	cr_assert(call.tool->probe(&rig->host, &call, &rig->error), "%s", rig->error.text);
	cr_assert_eq(rig->ends, 0);
	loop_run(rig->loop);
	cr_assert_eq(rig->ends, 1);
}

struct str rig_compute(struct rig *rig, const char *tool, const char *inputs)
{
	const struct tool *row = tool_find(&tool_table, str_from_c(tool));
	const struct json *output;
	cr_assert_not_null(row);
	rig->error = (struct error){ 0 };
	if (!row->compute(rig_json(rig, inputs), &rig->arena, &output, &rig->error))
		return S("");
	return json_print(&rig->arena, output);
}
