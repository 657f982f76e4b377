/* cli/output.c -- prints results and errors, the only file of cli/ that writes to stdout and stderr.
 *
 * An error that the server explained in detail (an invalid definition, invalid inputs) is printed
 * problem by problem: cli->problem is the server's response.  The error's own text repeats the first
 * of them, so it is printed only if there are none.
 */
#include "cli/output.h"

#include <stdio.h>

#include "base/terminal_text.h"
#include "contract/run_server_types.h"
#include "os/terminal.h"

static FILE *stream_of(enum cli_output to)
{
	return to == CLI_RESULT ? stdout : stderr;
}

static bool write_text(enum cli_output to, struct str text, unsigned flags)
{
	AUTO(buf) safe = { 0 };
	terminal_text_add(text, flags, &safe);
	return fwrite(safe.at, 1, safe.size, stream_of(to)) == safe.size;
}

/* ---- lines ----------------------------------------------------------------------------- */

void cli_line(enum cli_output to, const char *format, ...)
{
	AUTO(arena) arena = { 0 };
	va_list list;
	va_start(list, format);
	struct str line = str_format_list(&arena, format, list);
	va_end(list);
	(void)!write_text(to, line, 0);
	(void)!fputc('\n', stream_of(to));
}

void cli_lines(enum cli_output to, struct str text)
{
	(void)!write_text(to, text, TERMINAL_TEXT_LINES);
}

void cli_block_add(const char *margin, struct str text, struct buf *out)
{
	struct str line;
	while (str_ends(text, S("\n")))
		text.size--;
	while (str_cut(&text, '\n', &line)) {
		buf_add(out, str_from_c(margin));
		terminal_text_add(line, 0, out);
		buf_add_char(out, '\n');
	}
}

void cli_warnings(const struct json *document)
{
	const struct json *list = json_member(document, S("warnings"));
	const struct json *dropped = json_member(document, S("warnings_dropped"));
	for (size_t i = 0; list != NULL && list->kind == JSON_LIST && i < list->as.list.count;
	     i++) {
		const struct json *row = &list->as.list.at[i];
		const struct json *step = json_member(row, S("step"));
		const struct json *text = json_member(row, S("text"));
		if (text == NULL || text->kind != JSON_STRING)
			continue;
		bool of_step = step != NULL && step->kind == JSON_STRING;
		cli_line(CLI_PROGRESS, "warning: %s" STR_FMT "%s" STR_FMT, of_step ? "step " : "",
			 STR_ARG(of_step ? step->as.string : S("outputs")), ": ",
			 STR_ARG(text->as.string));
	}
	if (dropped != NULL && dropped->kind == JSON_INT)
		cli_line(CLI_PROGRESS, "warning: %lld more were not recorded",
			 (long long)dropped->as.integer);
}

void cli_lines_erase(size_t lines)
{
	if (lines > 0)
		fprintf(stdout, "\r\033[%zuA\033[J", lines);
}

void cli_json_line(enum cli_output to, struct str json)
{
	(void)!write_text(to, json, TERMINAL_TEXT_JSON);
	(void)!fputc('\n', stream_of(to));
}

bool cli_bytes(const struct cli *cli, struct str bytes)
{
	bool good = cli->to_terminal ? write_text(CLI_RESULT, bytes, TERMINAL_TEXT_LINES)
				     : fwrite(bytes.at, 1, bytes.size, stdout) == bytes.size;
	return good && fflush(stdout) == 0;
}

struct cli_tool_text cli_tool_text_make(const struct cli *cli, enum cli_output to)
{
	return (struct cli_tool_text){ .to = to,
				       .terminal = terminal_is_at(fileno(stream_of(to))),
				       .colors = cli->color };
}

bool cli_tool_text_print(struct cli_tool_text *printer, struct str text, bool last)
{
	FILE *stream = stream_of(printer->to);
	if (!printer->terminal)
		return fwrite(text.at, 1, text.size, stream) == text.size && fflush(stream) == 0;
	AUTO(buf) safe = { 0 };
	buf_add(&printer->kept, text);
	struct str whole = buf_str(&printer->kept);
	size_t size = last ? whole.size : terminal_text_complete(whole);
	if (size == 0) {
		if (last)
			buf_done(&printer->kept);
		return true;
	}
	terminal_text_add(str_head(whole, size),
			  TERMINAL_TEXT_LINES | (printer->colors ? TERMINAL_TEXT_COLORS : 0),
			  &safe);
	if (printer->colors)
		buf_add(&safe, S(TERMINAL_TEXT_RESET));
	buf_drop_front(&printer->kept, size);
	if (last)
		buf_done(&printer->kept);
	return fwrite(safe.at, 1, safe.size, stream) == safe.size && fflush(stream) == 0;
}

bool cli_piece(enum cli_output to, struct str text)
{
	FILE *stream = stream_of(to);
	return fwrite(text.at, 1, text.size, stream) == text.size && fflush(stream) == 0;
}

/* ---- results --------------------------------------------------------------------------- */

static int print(struct cli *cli, struct str text, unsigned flags)
{
	bool good = write_text(CLI_RESULT, text, flags);
	if (!str_ends(text, S("\n")))
		good = good && fputc('\n', stdout) != EOF;
	if (good && fflush(stdout) == 0)
		return 0;
	struct error error;
	fail(&error, ERROR_IO, "cannot write to standard output");
	return cli_fail(cli, &error);
}

int cli_print(struct cli *cli, struct str text)
{
	return print(cli, text, cli->json ? TERMINAL_TEXT_JSON : TERMINAL_TEXT_LINES);
}

int cli_print_styled(struct cli *cli, struct str text)
{
	return print(cli, text, TERMINAL_TEXT_LINES | TERMINAL_TEXT_COLORS);
}

int cli_print_json_text(struct cli *cli, struct str json)
{
	return print(cli, json, TERMINAL_TEXT_JSON);
}

int cli_print_json(struct cli *cli, const struct json *json)
{
	return json == NULL ? 0 : cli_print_json_text(cli, json_print(&cli->arena, json));
}

int cli_flush(void)
{
	return fflush(stdout) == 0 ? 0 : error_row(ERROR_IO)->exit_status;
}

/* ---- errors ---------------------------------------------------------------------------- */

/* The problems that the server listed with this error; NULL = none. */
static const struct json *server_problems(const struct cli *cli, const struct error *error)
{
	struct str code = json_text(json_member(cli->problem, S("code")));
	const struct json *details = json_member(cli->problem, S("details"));
	return json_item(details, 0) != NULL && str_equal(code, error_row(error->code)->name)
		       ? details
		       : NULL;
}

static void print_problem_json(struct cli *cli, const struct error *error)
{
	const struct error_row *row = error_row(error->code);
	struct run_problem *problem = run_problem_new(&cli->arena);
	SET(problem, title, row->text);
	SET(problem, status, row->http_status);
	SET(problem, detail, str_from_c(error->text));
	SET(problem, error, str_from_c(error->text));
	SET(problem, code, row->name);
	if (error->line > 0) {
		struct run_problem_place *place = run_problem_place_new(&cli->arena);
		SET(place, pointer, S(""));
		SET(place, line, error->line);
		SET(place, column, error->column);
		SET(place, text, str_from_c(error->text));
		SET(problem, details, (struct run_problem_place_list){ place, 1 });
	}
	cli_json_line(CLI_PROGRESS, run_problem_text(problem, &cli->arena));
}

/* How a line about an error begins: "flow.yaml:6:5: " like a compiler's, so that editors find the
 * place, or the program's name. */
static struct str place_text(struct cli *cli, long long line, long long column)
{
	if (line <= 0)
		return S("baton: ");
	return str_format(&cli->arena,
			  "%s%s%lld:%lld: ", cli->error_file != NULL ? cli->error_file : "",
			  cli->error_file != NULL ? ":" : "", line, column);
}

/* Prints each problem on a line of its own; only the last line has the error's code. */
static void print_problems(struct cli *cli, const struct json *problems, struct str code)
{
	size_t count = 0;
	for (; json_item(problems, count) != NULL; count++) {
		const struct json *one = json_item(problems, count);
		const struct json *line = json_member(one, S("line"));
		const struct json *column = json_member(one, S("column"));
		struct str pointer = json_text(json_member(one, S("pointer")));
		bool placed = line != NULL && column != NULL && line->kind == JSON_INT &&
			      column->kind == JSON_INT;
		bool last = json_item(problems, count + 1) == NULL;
		cli_line(CLI_PROGRESS, STR_FMT STR_FMT "%s" STR_FMT "%s" STR_FMT "%s",
			 STR_ARG(place_text(cli, placed ? line->as.integer : 0,
					    placed ? column->as.integer : 0)),
			 STR_ARG(pointer), pointer.size > 0 ? ": " : "",
			 STR_ARG(json_text(json_member(one, S("text")))), last ? " [" : "",
			 STR_ARG(last ? code : S("")), last ? "]" : "");
	}
}

int cli_fail(struct cli *cli, const struct error *error)
{
	const struct error_row *row = error_row(error->code);
	const struct json *problems = server_problems(cli, error);
	fflush(stdout);
	if (cli->json && problems != NULL)
		cli_json_line(CLI_PROGRESS, json_print(&cli->arena, cli->problem));
	else if (cli->json)
		print_problem_json(cli, error);
	else if (problems != NULL)
		print_problems(cli, problems, row->name);
	else
		cli_line(CLI_PROGRESS, STR_FMT "%s [" STR_FMT "]",
			 STR_ARG(place_text(cli, error->line, error->column)), error->text,
			 STR_ARG(row->name));
	return row->exit_status;
}
