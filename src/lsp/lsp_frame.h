/* lsp/lsp_frame.h -- the framing of the Language Server Protocol: headers, an empty line, a JSON body.
 *
 * Bytes are fed as they arrive.  Headers end with CR LF; Content-Length is required, other headers are ignored.
 * What breaks the framing cannot be skipped, so it ends the connection.
 */
#ifndef LSP_FRAME_H
#define LSP_FRAME_H

#include "base/buf.h"
#include "base/error.h"

struct lsp_frame {
	struct buf bytes; /* received and not yet taken */
	size_t scanned;   /* bytes that belong to the message that was taken last */
};

void lsp_frame_init(struct lsp_frame *frame);
void lsp_frame_done(struct lsp_frame *frame);
void lsp_frame_feed(struct lsp_frame *frame, struct str bytes);
/* Takes the next whole message; its text is valid until the next call.  *out_found is false while it
 * is incomplete.  Returns false, with the reason, when the bytes are no message. */
MUST_CHECK bool lsp_frame_take(struct lsp_frame *frame, struct str *out_body, bool *out_found,
			       struct error *error);
/* Appends a message with its headers. */
void lsp_frame_put(struct buf *out, struct str body);

#endif
