/* cli/prompts_folder.h -- the folder prompts beside a definition file; private to cli. */
#ifndef CLI_PROMPTS_FOLDER_H
#define CLI_PROMPTS_FOLDER_H

#include "base/str.h"

/* Its absolute path; "" = there is none. */
struct str prompts_folder_of(const char *definition, struct arena *arena);

#endif
