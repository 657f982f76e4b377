/* api/api_documents.h -- what the handlers of all documents have in common.
 *
 * The ETag of an answer is the document's revision in quotes.  If-Match names the revision that a
 * change expects (`*`: any, but there must be one), If-None-Match: * that there must be none yet; a
 * GET with If-None-Match is answered 304 when nothing is new.
 */
#ifndef API_DOCUMENTS_H
#define API_DOCUMENTS_H

#include "api/api_internal.h"
#include "base/limits.h"
#include "contract/document_kind.h"
#include "document/documents.h"

/* How a document is answered with; the texts must outlive the answer or be in the call's arena. */
struct api_documents_answer {
	enum document_kind kind;
	struct str path; /* "/api/profiles/": Location is this and the name when it is new */
};

/* As documents_change takes it.  USAGE when the header is not one that an ETag could be in. */
MUST_CHECK bool api_documents_expected(const struct api_call *call, int64_t *out_revision,
				       struct error *error);

/* Answers with the stored document; NOT_FOUND when there is none. */
void api_documents_send(struct api_call *call, const struct api_documents_answer *answer,
			struct str name);
/* Changes one and answers with what it has become: 200, 201 when it is new, 204 when it is gone. */
void api_documents_change(struct api_call *call, const struct api_documents_answer *answer,
			  struct str name, int64_t revision, struct str body);
/* The same, worked out by compose(context, …).  The first change must be of the document `name`.
 * `context` lives in the call's arena. */
void api_documents_compose(struct api_call *call, const struct api_documents_answer *answer,
			   struct str name, documents_compose *compose, void *context);

/* Where a document of this name is: the path and the name as one segment of it. */
struct str api_documents_location(struct str path, struct str name, struct arena *arena);

/* Answers 200 with a body and this ETag, or 304 when the client has it already. */
void api_documents_reply(struct api *api, uint64_t exchange, int status, struct str etag,
			 struct str location, struct str had, struct str body);

/* Problems of a part of a document, as problems of the whole: `pointer` goes before theirs, and
 * places in a text that the client has never seen go. */
void api_documents_add_problems(struct problems *problems, struct str pointer,
				const struct problems *of_part);

#endif
