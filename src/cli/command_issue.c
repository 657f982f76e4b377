/* cli/command_issue.c -- baton issue: issues of the tracker of a profile.
 *
 * The profile is that of --profile, else the one whose repository is around the current folder, else the
 * active one.  Of several around it the innermost is meant.
 */
#include <stdlib.h>

#include "base/terminal_text.h"
#include "cli/output.h"
#include "cli/server_request.h"
#include "contract/contract.h"
#include "contract/run_tracker_types.h"

static bool is_around(struct str folder, struct str here)
{
	while (folder.size > 1 && str_ends(folder, S("/")))
		folder = str_head(folder, folder.size - 1);
	return str_equal(folder, S("/")) || str_equal(folder, here) ||
	       (str_starts(here, folder) && here.at[folder.size] == '/');
}

/* The name of the profile, "" = the active one. */
static int choose_profile(struct cli *cli, struct str *out_name)
{
	const char *given = cli_value(cli, "--profile", 0);
	const struct json *page;
	size_t best = 0;
	*out_name = str_from_c(given);
	if (given != NULL)
		return 0;
	char *real = realpath(".", NULL);
	struct str here = str_copy(&cli->arena, str_from_c(real));
	free(real);
	int status = cli_call(cli, "GET", S("/api/profiles?limit=1000"), S(""), &page);
	if (status != 0)
		return status;
	const struct json *items = json_member(page, S("items"));
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		struct str root = cli_text(json_item(items, i), "repo_root");
		if (root.size > best && is_around(root, here)) {
			best = root.size;
			*out_name = cli_text(json_item(items, i), "name");
		}
	}
	return 0;
}

static struct str with_profile(struct cli *cli, struct str target, struct str profile)
{
	return cli_query(cli, target, "profile",
			 profile.size > 0 ? str_c(&cli->arena, profile) : NULL);
}

static void put_row(const struct json *issue)
{
	AUTO(buf) line = { 0 };
	buf_add_format(&line, STR_FMT "  " STR_FMT "  " STR_FMT, STR_ARG(cli_text(issue, "id")),
		       STR_ARG(cli_text(issue, "status")), STR_ARG(cli_text(issue, "title")));
	const struct json *labels = json_member(issue, S("labels"));
	for (size_t i = 0; json_item(labels, i) != NULL; i++)
		buf_add_format(&line, "%s" STR_FMT, i == 0 ? "  [" : ", ",
			       STR_ARG(json_text(json_item(labels, i))));
	if (json_item(labels, 0) != NULL)
		buf_add_char(&line, ']');
	cli_line(CLI_RESULT, STR_FMT, STR_ARG(buf_str(&line)));
}

static int list_issues(struct cli *cli, struct str profile)
{
	const struct json *page;
	struct str target =
		cli_query(cli, S("/api/tracker/issues"), "search", cli_value(cli, "--search", 0));
	target = cli_query(cli, target, "limit", cli_value(cli, "--limit", 0));
	int status = cli_call(cli, "GET", with_profile(cli, target, profile), S(""), &page);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_print_json(cli, page);
	const struct json *items = json_member(page, S("items"));
	for (size_t i = 0; json_item(items, i) != NULL; i++)
		put_row(json_item(items, i));
	if (json_item(items, 0) == NULL)
		cli_line(CLI_PROGRESS, "the tracker " STR_FMT " has no open issues%s",
			 STR_ARG(cli_text(page, "tracker")),
			 cli_has(cli, "--search") ? " with these words" : "");
	return cli_flush();
}

static int show_issue(struct cli *cli, struct str profile)
{
	AUTO(buf) text = { 0 };
	const struct json *issue;
	struct str target = cli_target(cli, "/api/tracker/issues/", cli_argument(cli, 0), "");
	int status = cli_call(cli, "GET", with_profile(cli, target, profile), S(""), &issue);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_print_json(cli, issue);
	put_row(issue);
	if (cli_text(issue, "url").size > 0)
		cli_line(CLI_RESULT, STR_FMT, STR_ARG(cli_text(issue, "url")));
	buf_add_char(&text, '\n');
	cli_block_add("", cli_text(issue, "description"), &text);
	cli_lines(CLI_RESULT, buf_str(&text));
	return cli_flush();
}

static int comment_issue(struct cli *cli, struct str profile)
{
	const struct json *done;
	struct run_comment_request *body = run_comment_request_new(&cli->arena);
	SET(body, text, str_from_c(cli_value(cli, "--message", 0)));
	struct str target =
		cli_target(cli, "/api/tracker/issues/", cli_argument(cli, 0), "/comments");
	int status = cli_call(cli, "POST", with_profile(cli, target, profile),
			      run_comment_request_text(body, &cli->arena), &done);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_print_json(cli, done);
	cli_line(CLI_RESULT, "commented on " STR_FMT "  " STR_FMT, STR_ARG(cli_text(done, "issue")),
		 STR_ARG(cli_text(done, "url")));
	return cli_flush();
}

static bool is_subcommand(const struct cli *cli, const char *name)
{
	return str_equal(str_from_c(cli->subcommand->name), str_from_c(name));
}

static bool prepare(struct cli *cli, struct error *error)
{
	const char *text = is_subcommand(cli, "comment") ? cli_value(cli, "--message", 0) : "-";
	if (text == NULL || text[0] == '\0')
		return fail(error, ERROR_USAGE, "issue comment needs a text: -m TEXT");
	return true;
}

static int run(struct cli *cli)
{
	struct str profile;
	int status = choose_profile(cli, &profile);
	if (status != 0)
		return status;
	if (is_subcommand(cli, "list"))
		return list_issues(cli, profile);
	return is_subcommand(cli, "show") ? show_issue(cli, profile) : comment_issue(cli, profile);
}

#define PROFILE                                                                                     \
	{                                                                                           \
		.name = "--profile", .value = "NAME", .value_kind = CLI_PROFILE,                    \
		.text = "Profile (default: that of the repository around the current folder, else " \
			"the active one)"                                                           \
	}

static const struct cli_subcommand subcommands[] = {
	{ .name = "list",
	  .text = "List open issues, newest first",
	  .options = { PROFILE,
		       { .name = "--search", .value = "WORDS", .text = "Words to find" },
		       { .name = "--limit",
			 .value = "N",
			 .text = "Maximum number (default 30)" } } },
	{ .name = "show",
	  .text = "Print an issue: 123, owner/repo#123, ABC-123 or its address",
	  .arguments = { { .name = "ISSUE" } },
	  .options = { PROFILE } },
	{ .name = "comment",
	  .text = "Add a comment to an issue",
	  .arguments = { { .name = "ISSUE" } },
	  .options = { PROFILE,
		       { .name = "--message",
			 .letter = 'm',
			 .value = "TEXT",
			 .text = "The comment, Markdown" } } },
	{ 0 }
};

const struct cli_command command_issue = {
	.name = "issue",
	.text = "List, read and comment on issues of the profile's tracker",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.subcommands = subcommands,
	.examples = { { "baton issue list --search login", "open issues with a word" },
		      { "baton issue show 123", "an issue of the repository around this folder" },
		      { "baton issue comment 123 -m \"Fixed in main.\"", "add a comment" } },
	.prepare = prepare,
	.run = run,
};
