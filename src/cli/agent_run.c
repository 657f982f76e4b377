/* cli/agent_run.c -- baton agent run: starts an agent with a task and shows its work. */
#include "cli/agent_run.h"

#include "cli/output.h"
#include "cli/server_request.h"
#include "cli/talk_print.h"
#include "contract/run_agent_types.h"

struct agent_run_state {
	struct agent_start start;
	struct talk_printer *printer; /* NULL = not started */
	int64_t last_seq;
	bool ended;
};

void agent_start_make(struct cli *cli, struct str agent, const char *goal, bool chat,
		      struct agent_start *out_start)
{
	struct run_agentic_request *request = run_agentic_request_new(&cli->arena);
	*out_start = (struct agent_start){ .run = uuid_from_random(cli->random) };
	SET(request, agent, agent);
	if (goal != NULL)
		SET(request, goal, str_from_c(goal));
	if (cli_value(cli, "--profile", 0) != NULL)
		SET(request, profile, str_from_c(cli_value(cli, "--profile", 0)));
	SET(request, chat, chat);
	SET(request, run_id, out_start->run);
	out_start->request = request;
}

/* The artifacts that the files have become, as attachments of the goal. */
static bool attach(struct cli *cli, struct agent_start *start, struct error *error)
{
	struct problems problems = { .arena = &cli->arena };
	size_t count = start->uploads.count;
	struct run_attachment *at = arena_array(&cli->arena, struct run_attachment, count);
	for (size_t i = 0; i < count; i++) {
		struct contract_source source = { .json = start->uploads.at[i].artifact };
		const struct run_attachment *one =
			run_attachment_parse(&source, &cli->arena, &problems);
		if (one == NULL)
			return fail(error, ERROR_INVALID,
				    "--attach %s: no PNG, JPEG, GIF or WebP picture and no WAV or "
				    "MP3 recording",
				    cli_value(cli, "--attach", i));
		at[i] = *one;
	}
	if (count > 0)
		SET(start->request, attachments, ((struct run_attachment_list){ at, count }));
	return true;
}

int agent_start_send(struct cli *cli, struct agent_start *start, bool quiet)
{
	const struct json *answer;
	struct error error;
	char id[UUID_TEXT_SIZE];
	bool lost, again = start->requested;
	if (start->started)
		return 0;
	int status = upload_send(cli, &start->run, &start->uploads);
	if (status != 0)
		return status;
	if (!attach(cli, start, &error))
		return cli_fail(cli, &error);
	start->requested = true;
	struct str body = run_agentic_request_text(start->request, &cli->arena);
	if (!cli_request(cli, "POST", S("/api/agentic"), body, &answer, &lost, &error)) {
		if (lost)
			return CLI_SERVER_LOST;
		if (!again || error.code != ERROR_CONFLICT)
			return cli_fail(cli, &error);
	}
	start->started = true;
	if (!quiet)
		cli_line(CLI_PROGRESS, "run " STR_FMT, STR_ARG(uuid_text(&start->run, id)));
	return 0;
}

bool agent_run_prepare(struct cli *cli, struct error *error)
{
	struct agent_run_state *state = arena_new(&cli->arena, struct agent_run_state);
	const char *task = cli_value(cli, "--task", 0);
	cli->state = state;
	cli->read_only = false;
	if (task == NULL || task[0] == '\0')
		return fail(error, ERROR_USAGE,
			    "--task must say what the agent shall do: baton agent run %s --task "
			    "\"…\"",
			    cli_argument(cli, 0));
	agent_start_make(cli, str_from_c(cli_argument(cli, 0)), task, false, &state->start);
	return upload_read(cli, "--attach", false, &state->start.uploads, error);
}

int agent_run(struct cli *cli)
{
	struct agent_run_state *state = cli->state;
	struct error error;
	char id[UUID_TEXT_SIZE];
	bool detach = cli_has(cli, "--detach");
	if (detach && cli->own_server) {
		fail(&error, ERROR_UNAVAILABLE,
		     "--detach needs a server that carries the run on; start one with baton serve");
		return cli_fail(cli, &error);
	}
	const struct json *agent;
	int status = 0;
	if (!state->start.requested) /* a clear error when there is none */
		status = cli_call(cli, "GET",
				  cli_query(cli,
					    cli_target(cli, "/api/agents/", cli_argument(cli, 0),
						       "/resolved"),
					    "profile", cli_value(cli, "--profile", 0)),
				  S(""), &agent);
	if (status == 0)
		status = agent_start_send(cli, &state->start, detach);
	if (status != 0)
		return status;
	if (detach)
		return cli_print(cli, uuid_text(&state->start.run, id));
	if (cli->json)
		return cli_run_follow(cli, &state->start.run, &state->last_seq);
	if (state->printer == NULL)
		state->printer = talk_printer_new(cli, &state->start.run, false);
	if (!state->ended)
		status = talk_printer_follow(state->printer, &state->ended);
	return status != 0 || !state->ended ? status : talk_printer_end(state->printer);
}
