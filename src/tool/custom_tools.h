/* tool/custom_tools.h -- tools of the owner's own: tools/NAME.yaml in the data folder, inert until
 * trusted.
 *
 * A definition names a program: that of a system, one beside the definition, or a script.  What
 * stands in the folder may have come from anywhere, so it is nothing but text until an admin has
 * trusted it: the hashes of definition and program are then kept as a document, and whenever either
 * is another one the tool is inert again.
 *
 * A program from the folder is run from a copy of ours that is named by its hash, so what was
 * judged is what runs.  One of the system's is judged where it is.
 *
 * Threads: any.  The files are read anew by each call of custom_tools_read() and
 * custom_tools_list(); both block on the disk.
 */
#ifndef TOOL_CUSTOM_H
#define TOOL_CUSTOM_H

#include "contract/run_types.h"

struct custom_tools;

/* As it is on the disk now. */
struct custom_tool {
	struct str name;
	const struct run_custom_tool *definition; /* NULL when it cannot be read */
	struct hash definition_hash, program_hash;
	const char *program; /* the script, or command[0], to be run: an absolute path */
	bool ours;           /* it is a copy in the data folder */
	struct error why;    /* what keeps it from being called; code NONE = nothing */
	bool untrusted;      /* and that is only that nobody has trusted it, as it is */
};

struct custom_tools *custom_tools_new(const char *data_folder);
void custom_tools_free(struct custom_tools *customs);
const char *custom_tools_folder(const struct custom_tools *customs); /* the data folder */

/* What an admin has decided; NULL = nothing, any more. */
void custom_tools_trust(struct custom_tools *customs, struct str name,
			const struct run_trust *trust);

/* The tool, readable or not, trusted or not; NOT_FOUND when there is no such file.  When it may be
 * called, `program` is there. */
MUST_CHECK bool custom_tools_read(struct custom_tools *customs, struct str name,
				  struct arena *arena, struct custom_tool *out_tool,
				  struct error *error);
/* The definitions of all of them by name, up to LIMIT_CUSTOM_TOOLS; their programs are not looked
 * at, and nothing is judged. */
size_t custom_tools_list(struct custom_tools *customs, struct arena *arena,
			 struct custom_tool **out_tools);

#endif
