/* cli/upload.c -- files that become artifacts of a run before it starts. */
#include "cli/upload.h"

#include "base/base64.h"
#include "base/limits.h"
#include "cli/server_request.h"
#include "contract/run_artifact_types.h"
#include "os/file.h"

/* The last part of the path, with what an artifact's name cannot have replaced. */
static struct str name_of(struct str path, size_t number, struct arena *arena)
{
	struct str rest = path, last = path;
	while (str_cut(&rest, '/', &last))
		;
	char *name = arena_take_text(arena, last.size);
	for (size_t i = 0; i < last.size; i++) {
		char c = last.at[i];
		bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			    (c >= '0' && c <= '9') || c == '_' || c == '-' || (c == '.' && i > 0);
		name[i] = good ? c : '_';
	}
	return str_format(arena, "inputs/%zu/" STR_FMT, number,
			  STR_ARG(str_head((struct str){ name, last.size }, LIMIT_NAME_BYTES)));
}

static bool read_one(struct cli *cli, const char *option, struct str path, size_t number,
		     struct upload *upload, struct error *error)
{
	struct arena *arena = &cli->arena;
	struct run_artifact_upload *body = run_artifact_upload_new(arena);
	const char *file = str_c(arena, path);
	struct str bytes;
	cli->error_file = file;
	if (!file_read(file, LIMIT_UPLOAD_BYTES, arena, &bytes, error)) {
		if (error->code == ERROR_TOO_LARGE)
			return fail(error, ERROR_TOO_LARGE,
				    "%s: a file has at most %d bytes: make it smaller, or let the "
				    "run fetch it",
				    option, LIMIT_UPLOAD_BYTES);
		return false;
	}
	cli->error_file = NULL;
	SET(body, name, name_of(path, number, arena));
	SET(body, content, base64_text(arena, bytes));
	upload->body = run_artifact_upload_text(body, arena);
	return true;
}

bool upload_read(struct cli *cli, const char *option, bool named, struct uploads *out_uploads,
		 struct error *error)
{
	struct uploads uploads = { 0 };
	while (cli_value(cli, option, uploads.count) != NULL)
		uploads.count++;
	uploads.at = arena_array(&cli->arena, struct upload, uploads.count);
	for (size_t i = 0; i < uploads.count; i++) {
		struct str path = str_from_c(cli_value(cli, option, i));
		size_t at;
		if (named && (!str_find(path, S("="), &at) || at == 0))
			return fail(error, ERROR_USAGE, "%s takes NAME=FILE, not \"" STR_FMT "\"",
				    option, STR_ARG(str_head(path, LIMIT_QUOTE_BYTES)));
		if (named) {
			uploads.at[i].input = str_head(path, at);
			path = str_skip(path, at + 1);
		}
		if (!read_one(cli, option, path, i + 1, &uploads.at[i], error))
			return false;
	}
	*out_uploads = uploads;
	return true;
}

int upload_send(struct cli *cli, const struct uuid *run, struct uploads *uploads)
{
	for (size_t i = 0; i < uploads->count; i++) {
		struct upload *one = &uploads->at[i];
		if (one->artifact != NULL)
			continue;
		int status = cli_call(cli, "POST", cli_run_target(cli, run, "/artifacts"),
				      one->body, &one->artifact);
		if (status != 0)
			return status;
	}
	return 0;
}
