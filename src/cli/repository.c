/* cli/repository.c -- which repository a command is about.
 *
 * A run may only work on a repository that a profile names, so that a client of the server cannot point
 * it at any folder of its machine.  The commands of pipelines therefore find the profile of the folder
 * in which they are called.
 */
#include "cli/repository.h"

#include <stdlib.h>

#include "base/limits.h"
#include "cli/server_request.h"
#include "os/file.h"

bool repository_find(struct arena *arena, struct str *out_root, struct error *error)
{
	char *here = realpath(".", NULL);
	struct str folder = str_copy(arena, here == NULL ? S("") : str_from_c(here));
	struct str around = folder;
	free(here);
	while (around.size > 0) {
		if (file_exists(str_format(arena, STR_FMT "/.git", STR_ARG(around)).at)) {
			*out_root = around;
			return true;
		}
		while (around.size > 0 && around.at[around.size - 1] != '/')
			around.size--;
		around.size -= around.size > 0;
	}
	return fail(error, ERROR_NOT_FOUND,
		    STR_FMT " is not in a git repository; run git init, or call the command in the "
			    "folder of a repository",
		    STR_ARG(str_head(folder, LIMIT_QUOTE_BYTES)));
}

int repository_profile(struct cli *cli, struct str root, struct str *out_name)
{
	const struct json *page;
	int status = cli_call(cli, "GET", S("/api/profiles?limit=1000"), S(""), &page);
	if (status != 0)
		return status;
	const struct json *items = json_member(page, S("items"));
	struct str active = cli_text(page, "active_profile");
	*out_name = S("");
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		struct str name = cli_text(json_item(items, i), "name");
		struct str of = cli_text(json_item(items, i), "repo_root");
		char *real = realpath(str_c(&cli->arena, of), NULL);
		bool same = real != NULL && str_equal(str_from_c(real), root);
		free(real);
		if (same && (out_name->size == 0 || str_equal(name, active)))
			*out_name = name;
	}
	return 0;
}

int repository_profile_choose(struct cli *cli, struct str *out_name)
{
	struct error error;
	struct str root;
	if (cli_value(cli, "--profile", 0) != NULL) {
		*out_name = str_from_c(cli_value(cli, "--profile", 0));
		return 0;
	}
	if (!repository_find(&cli->arena, &root, &error))
		return cli_fail(cli, &error);
	int status = repository_profile(cli, root, out_name);
	if (status == 0 && out_name->size == 0) {
		fail(&error, ERROR_NOT_FOUND,
		     "no profile has the repository " STR_FMT "; run baton init there",
		     STR_ARG(str_head(root, LIMIT_QUOTE_BYTES)));
		status = cli_fail(cli, &error);
	}
	return status;
}
