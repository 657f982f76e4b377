/* cli/command_inbox.c -- baton inbox: open questions to people. */

#include "cli/output.h"
#include "cli/server_request.h"
#include "cli/value_text.h"

static void put_question(const struct json *row)
{
	AUTO(buf) line = { 0 };
	buf_add_format(&line, STR_FMT "  " STR_FMT "  run " STR_FMT "  " STR_FMT,
		       STR_ARG(cli_text(row, "id")), STR_ARG(cli_text(row, "kind")),
		       STR_ARG(cli_text(row, "run_id")), STR_ARG(cli_text(row, "step")));
	if (cli_text(row, "to").size > 0) {
		buf_add(&line, S("  for "));
		buf_add(&line, cli_text(row, "to"));
	}
	if (cli_text(row, "due_at").size > 0)
		buf_add_format(&line, "  due " STR_FMT, STR_ARG(cli_text(row, "due_at")));
	if (cli_is_true(row, "four_eyes"))
		buf_add(&line, S("  four eyes"));
	cli_line(CLI_RESULT, STR_FMT, STR_ARG(buf_str(&line)));
	buf_clear(&line);
	cli_block_add("    | ", cli_text(row, "question"), &line);
	value_text_add(json_member(row, S("inputs")), "      ", &line);
	cli_lines(CLI_RESULT, buf_str(&line));
}

/* With --json prints the first page as the server sends it, else all pages. */
static int list_inbox(struct cli *cli)
{
	struct str target = S("/api/inbox");
	for (;;) {
		const struct json *page;
		int status = cli_call(cli, "GET", target, S(""), &page);
		if (status != 0)
			return status;
		if (cli->json)
			return cli_print_json(cli, page);
		const struct json *items = json_member(page, S("items"));
		for (size_t i = 0; json_item(items, i) != NULL; i++)
			put_question(json_item(items, i));
		struct str cursor = cli_text(page, "cursor");
		if (cursor.size == 0)
			return cli_flush();
		target = str_format(&cli->arena, "/api/inbox?cursor=" STR_FMT, STR_ARG(cursor));
	}
}

const struct cli_command command_inbox = {
	.name = "inbox",
	.text = "List open requests to people: what, for whom, until when",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.prepare = cli_prepare_nothing,
	.run = list_inbox,
};
