/* cli/command_doctor.c -- baton doctor: checks the installation, the settings and the data folder.
 *
 * Each check reports what it found and how to fix it.  The command itself runs in any state:
 * config.yaml may have errors, the data folder may be missing, its owner may not answer.
 */
#include <string.h>

#include "base/limits.h"
#include "base/terminal_text.h"
#include "cli/doctor.h"
#include "cli/output.h"

static const struct {
	const char *name;
	void (*run)(struct doctor *doctor);
} checks[] = {
	{ "version", doctor_version },
	{ "dashboard", doctor_pages },
	{ "sandbox", doctor_sandbox },
	{ "walls", doctor_sandbox_layers },
	{ "usage limits", doctor_sandbox_limits },
	{ "toolchains", doctor_toolchains },
	{ "git", doctor_git },
	{ "libcrypto", doctor_libcrypto },
	{ "open files", doctor_limits },
	{ "data folder", doctor_folder },
	{ "clock", doctor_clock },
	{ "disk", doctor_disk },
	{ "settings", doctor_settings },
	{ "owner", doctor_owner },
	{ "database", doctor_store },
	{ "port", doctor_port },
	{ "keys", doctor_keys },
	{ "secrets", doctor_secrets },
};

void doctor_add_finding(struct doctor *doctor, enum doctor_result result, const char *fix,
			const char *format, ...)
{
	if (doctor->count == LIMIT_DOCTOR_FINDINGS)
		return;
	va_list list;
	va_start(list, format);
	doctor->findings[doctor->count++] = (struct doctor_finding){
		.check = doctor->check,
		.result = result,
		.text = str_format_list(&doctor->cli->arena, format, list),
		.fix = str_copy(&doctor->cli->arena, str_from_c(fix)),
	};
	va_end(list);
}

/* ---- output ---------------------------------------------------------------------------- */

static const char *word_of(enum doctor_result result)
{
	switch (result) {
	case DOCTOR_OK:
		return "ok";
	case DOCTOR_WARN:
		return "warn";
	case DOCTOR_FAIL:
		return "fail";
	}
	return "";
}

static const char *color_of(enum doctor_result result)
{
	switch (result) {
	case DOCTOR_OK:
		return "\033[32m";
	case DOCTOR_WARN:
		return "\033[33m";
	case DOCTOR_FAIL:
		return "\033[31m";
	}
	return "";
}

static void add_line(const struct cli *cli, const struct doctor_finding *finding, struct buf *out)
{
	buf_add_format(out, "%s%-4s%s  %-12s ", cli->color ? color_of(finding->result) : "",
		       word_of(finding->result), cli->color ? TERMINAL_TEXT_RESET : "",
		       finding->check);
	terminal_text_add(finding->text, 0, out);
	buf_add_char(out, '\n');
	if (finding->fix.size == 0)
		return;
	buf_add_format(out, "      %-12s -> ", "");
	terminal_text_add(finding->fix, 0, out);
	buf_add_char(out, '\n');
}

static void add_json(const struct doctor_finding *finding, struct json_writer *writer)
{
	json_open(writer, '{');
	json_key(writer, S("check"));
	json_put_str(writer, str_from_c(finding->check));
	json_key(writer, S("result"));
	json_put_str(writer, str_from_c(word_of(finding->result)));
	json_key(writer, S("text"));
	json_put_str(writer, finding->text);
	json_key(writer, S("fix"));
	if (finding->fix.size > 0)
		json_put_str(writer, finding->fix);
	else
		json_put_null(writer);
	json_close(writer, '}');
}

static int report(struct doctor *doctor)
{
	size_t counts[3] = { 0 };
	AUTO(buf) out = { 0 };
	struct json_writer writer = { .out = &out };
	struct cli *cli = doctor->cli;
	for (size_t i = 0; i < doctor->count; i++)
		counts[doctor->findings[i].result]++;
	if (cli->json) {
		json_open(&writer, '{');
		json_key(&writer, S("sound"));
		json_put_bool(&writer, counts[DOCTOR_FAIL] == 0);
		json_key(&writer, S("findings"));
		json_open(&writer, '[');
		for (size_t i = 0; i < doctor->count; i++)
			add_json(&doctor->findings[i], &writer);
		json_close(&writer, ']');
		json_close(&writer, '}');
	} else {
		for (size_t i = 0; i < doctor->count; i++)
			add_line(cli, &doctor->findings[i], &out);
		buf_add_format(&out, "%zu ok, %zu warnings, %zu failures\n", counts[DOCTOR_OK],
			       counts[DOCTOR_WARN], counts[DOCTOR_FAIL]);
	}
	int status =
		cli->json ? cli_print(cli, buf_str(&out)) : cli_print_styled(cli, buf_str(&out));
	return status != 0 ? status : counts[DOCTOR_FAIL] > 0;
}

static int run(struct cli *cli)
{
	if (cli_argument(cli, 0) != NULL)
		return doctor_escape(cli);
	struct doctor doctor = { .cli = cli };
	doctor.findings = arena_array(&cli->arena, struct doctor_finding, LIMIT_DOCTOR_FINDINGS);
	for (size_t i = 0; i < COUNT(checks); i++) {
		doctor.check = checks[i].name;
		checks[i].run(&doctor);
	}
	return report(&doctor);
}

const struct cli_command command_doctor = {
	.name = "doctor",
	.text = "Check the installation, settings and data folder, and suggest fixes",
	.group = CLI_SERVERS,
	.kind = CLI_PLAIN,
	.arguments = { { .name = "WHAT",
			 .value_kind = CLI_ONE_OF,
			 .choices = "sandbox",
			 .optional = true } },
	.examples = { { "baton doctor", "Check before the first run, and when something is wrong" },
		      { "baton doctor --json", "Print the findings as JSON, for monitoring" },
		      { "baton doctor sandbox", "Try to get out of the sandbox in many ways" } },
	.exits = { { 1,
		     "at least one check failed, or a probe got out of the sandbox; warnings do not count" } },
	.prepare = cli_prepare_nothing,
	.run = run,
};
