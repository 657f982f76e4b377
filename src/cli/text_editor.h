/* cli/text_editor.h -- a text in the editor of the person ($VISUAL, $EDITOR); private to cli.
 *
 * The text is in a file until it is saved.  Whoever opened the editor removes the file then, and prints
 * its path otherwise.
 */
#ifndef CLI_TEXT_EDITOR_H
#define CLI_TEXT_EDITOR_H

#include "cli/cli.h"

/* Writes the text to a new file; `ending` is that of its name: "greet.yaml". */
MUST_CHECK bool text_editor_write(struct cli *cli, struct str text, const char *ending,
				  const char **out_path, struct error *error);
/* Opens the editor and waits until it ends.  CANCELLED when its status is not 0. */
MUST_CHECK bool text_editor_open(struct cli *cli, const char *path, struct error *error);

#endif
