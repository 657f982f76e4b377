/* tool/custom_tools.h -- custom tools: tools/NAME.yaml in the data folder, inert until trusted.
 *
 * A definition names a program: one of the system, one beside the definition, or a script.  Files
 * in the folder may have come from anywhere, so nothing is executed until an admin trusts the tool.
 * Trust is stored as the hashes of the definition and the program; when either file changes, the
 * tool is inert again.
 *
 * A program in the folder is run from a copy that is named by its hash, so that the program that
 * runs is the one that was verified.  A program of the system is verified and run in place.
 *
 * Threads: any.  custom_tools_read() and custom_tools_list() read the files on each call and block
 * on the disk.
 */
#ifndef TOOL_CUSTOM_H
#define TOOL_CUSTOM_H

#include "contract/run_custom_tool_types.h"

struct custom_tools;

/* A custom tool as it is on the disk. */
struct custom_tool {
	struct str name;
	const struct run_custom_tool *definition; /* NULL = it has errors */
	struct hash definition_hash, program_hash;
	const char *program; /* absolute path of the script or of command[0] */
	bool ours;           /* program is a copy in the data folder */
	struct error why;    /* why it cannot be called; code NONE = it can */
	bool untrusted;      /* the only reason is that its current version is not trusted */
};

struct custom_tools *custom_tools_new(const char *data_folder);
void custom_tools_free(struct custom_tools *customs);
const char *custom_tools_folder(const struct custom_tools *customs); /* the data folder */

/* Sets the trust in a tool; NULL revokes it. */
void custom_tools_trust(struct custom_tools *customs, struct str name,
			const struct run_trust *trust);

/* Reads and verifies a tool.  Fails with NOT_FOUND when there is no such file; a definition with
 * errors and missing trust are reported in `why`.  `program` is set when the tool can be called. */
MUST_CHECK bool custom_tools_read(struct custom_tools *customs, struct str name,
				  struct arena *arena, struct custom_tool *out_tool,
				  struct error *error);
/* Reads the definitions of all custom tools, sorted by name, up to LIMIT_CUSTOM_TOOLS.  Does not
 * read the programs or verify trust. */
size_t custom_tools_list(struct custom_tools *customs, struct arena *arena,
			 struct custom_tool **out_tools);

#endif
