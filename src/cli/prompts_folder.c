/* cli/prompts_folder.c -- the folder prompts beside a definition file.
 *
 * The server reads the files, because only the compiler knows which of them a definition uses; so it is
 * given the absolute path.  The definition itself is sent as text (decision 0004).
 */
#include "cli/prompts_folder.h"

#include <stdlib.h>
#include <string.h>

#include "os/file.h"

struct str prompts_folder_of(const char *definition, struct arena *arena)
{
	const char *slash = strrchr(definition, '/');
	struct str folder =
		slash == NULL ? S(".") : (struct str){ definition, (size_t)(slash - definition) };
	const char *path = str_format(arena, STR_FMT "/prompts", STR_ARG(folder)).at;
	if (!file_exists(path))
		return S("");
	char *real = realpath(path, NULL);
	struct str found = str_copy(arena, str_from_c(real));
	free(real);
	return found;
}
