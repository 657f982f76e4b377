/* cli/text_editor.c -- a text in the editor of the person. */
#include "cli/text_editor.h"

#include <string.h>

#include "os/file.h"
#include "os/process.h"

static const char *variable(const struct cli *cli, const char *name)
{
	size_t size = strlen(name);
	for (size_t i = 0; cli->environment[i] != NULL; i++)
		if (strncmp(cli->environment[i], name, size) == 0 &&
		    cli->environment[i][size] == '=' && cli->environment[i][size + 1] != '\0')
			return cli->environment[i] + size + 1;
	return NULL;
}

bool text_editor_write(struct cli *cli, struct str text, const char *ending, const char **out_path,
		       struct error *error)
{
	const char *folder = variable(cli, "TMPDIR");
	char id[UUID_TEXT_SIZE];
	struct uuid own = uuid_from_random(cli->random);
	*out_path =
		str_format(&cli->arena, "%s/baton-" STR_FMT "-%s", folder == NULL ? "/tmp" : folder,
			   STR_ARG(str_head(uuid_text(&own, id), 8)), ending)
			.at;
	return file_replace(*out_path, text, error);
}

/* The editor may be a command with arguments, so a shell splits it. */
bool text_editor_open(struct cli *cli, const char *path, struct error *error)
{
	const char *editor = variable(cli, "VISUAL");
	int status;
	if (editor == NULL)
		editor = variable(cli, "EDITOR");
	const char *command =
		str_format(&cli->arena, "exec %s \"$1\"", editor == NULL ? "vi" : editor).at;
	const char *const argv[] = { "/bin/sh", "-c", command, "sh", path, NULL };
	if (!process_run_at_terminal(argv, cli->environment, &status, error))
		return false;
	return status == 0 ||
	       fail(error, ERROR_CANCELLED,
		    "the editor %s ended with status %d, so nothing is saved; the text is in %s",
		    editor == NULL ? "vi" : editor, status, path);
}
