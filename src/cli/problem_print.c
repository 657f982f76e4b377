/* cli/problem_print.c -- the problems of a workflow file, with their lines and fixes. */
#include "cli/problem_print.h"

#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "cli/output.h"
#include "cli/server_request.h"

enum { SHOWN_BYTES = 400 }; /* of a line; a longer one is shown without its mark */

bool problem_format_read(struct cli *cli, struct error *error)
{
	const char *format = cli_value(cli, "--format", 0);
	if (format == NULL || strcmp(format, "full") == 0 || strcmp(format, "short") == 0)
		return true;
	return fail(error, ERROR_USAGE, "unknown format \"%s\"; expected full or short", format);
}

static bool is_full(struct cli *cli)
{
	const char *format = cli_value(cli, "--format", 0);
	return format == NULL ? cli->to_terminal : strcmp(format, "full") == 0;
}

/* A line of the file without its line break; "" behind the last one. */
static struct str line_of(struct str text, long long number)
{
	struct str line = S("");
	for (long long i = 0; i < number; i++)
		if (!str_cut(&text, '\n', &line))
			return S("");
	if (line.size > 0 && line.at[line.size - 1] == '\r')
		line.size--;
	return line;
}

/* Blanks as wide as the characters before the column; a tab stays a tab. */
static void add_margin(struct buf *out, struct str line, long long column)
{
	size_t at = 0;
	for (long long i = 1; i < column && at < line.size; i++) {
		uint32_t character;
		size_t size = utf8_decode(str_skip(line, at), &character);
		buf_add_char(out, line.at[at] == '\t' ? '\t' : ' ');
		at += size == 0 ? 1 : size;
	}
}

static void print_mark(struct str text, const struct json *problem)
{
	long long number = cli_number(problem, "line"), column = cli_number(problem, "column");
	struct str line = line_of(text, number);
	bool one_line = cli_number(problem, "end_line") == number;
	long long width = one_line ? cli_number(problem, "end_column") - column : 1;
	AUTO(buf) mark = { 0 };
	if (line.size == 0 || line.size > SHOWN_BYTES)
		return;
	cli_line(CLI_RESULT, "    " STR_FMT, STR_ARG(line));
	add_margin(&mark, line, column);
	buf_add_char(&mark, '^');
	for (long long i = 1; i < width; i++)
		buf_add_char(&mark, '~');
	cli_line(CLI_RESULT, "    " STR_FMT, STR_ARG(buf_str(&mark)));
}

static void print_problem(struct cli *cli, const char *file, struct str text,
			  const struct json *problem, const char *kind)
{
	const struct json *fix = json_member(problem, S("fix"));
	struct str message = cli_text(problem, "message");
	long long line = cli_number(problem, "line");
	if (line > 0)
		cli_line(CLI_RESULT, "%s:%lld:%lld: %s" STR_FMT, file, line,
			 cli_number(problem, "column"), kind, STR_ARG(message));
	else
		cli_line(CLI_RESULT, "%s: %s" STR_FMT, file, kind, STR_ARG(message));
	if (!is_full(cli))
		return;
	if (line > 0)
		print_mark(text, problem);
	if (fix != NULL)
		cli_line(CLI_RESULT, "    fix: " STR_FMT, STR_ARG(cli_text(fix, "title")));
}

void problem_print_all(struct cli *cli, const char *file, struct str text,
		       const struct json *result)
{
	const struct json *problems = json_member(result, S("problems")), *problem;
	const struct json *warnings = json_member(result, S("warning_problems"));
	for (size_t i = 0; (problem = json_item(problems, i)) != NULL; i++)
		print_problem(cli, file, text, problem, "");
	for (size_t i = 0; (problem = json_item(warnings, i)) != NULL; i++)
		print_problem(cli, file, text, problem, "warning: ");
}
