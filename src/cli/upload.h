/* cli/upload.h -- files that become artifacts of a run before it starts; private to cli.
 *
 * The files are read when the command is prepared and sent when it has a server.  Sending one again is
 * harmless: the same bytes under the same name are the same version.
 */
#ifndef CLI_UPLOAD_H
#define CLI_UPLOAD_H

#include "cli/cli.h"

struct upload {
	struct str input;            /* --input-file: the input that gets it; "" = none */
	struct str body;             /* of the request */
	const struct json *artifact; /* run.Artifact; NULL = not sent yet */
};

struct uploads {
	struct upload *at;
	size_t count;
};

/* The files of an option that may be repeated: FILE, or NAME=FILE if `named`. */
MUST_CHECK bool upload_read(struct cli *cli, const char *option, bool named,
			    struct uploads *out_uploads, struct error *error);
/* Adds them to the run's artifacts.  Returns 0 or the status that the command returns. */
MUST_CHECK int upload_send(struct cli *cli, const struct uuid *run, struct uploads *uploads);

#endif
