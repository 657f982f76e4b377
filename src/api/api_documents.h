/* api/api_documents.h -- common handler code for stored documents (profiles, agents, keys, ...).
 *
 * The ETag of a response is the document's revision in quotes.  A change may carry If-Match with
 * the expected revision (`*`: any, but the document must exist) or `If-None-Match: *` (the document
 * must not exist).  A GET whose If-None-Match equals the ETag gets 304.
 */
#ifndef API_DOCUMENTS_H
#define API_DOCUMENTS_H

#include "api/api_internal.h"
#include "base/limits.h"
#include "contract/document_kind.h"
#include "document/documents.h"

/* The kind and address of a document in a response.  `path` is copied. */
struct api_documents_answer {
	enum document_kind kind;
	struct str
		path; /* "/api/profiles/": prefix of Location for a new document; "" = no Location */
};

/* The expected revision of a change, as documents_change() takes it.  USAGE when If-Match or
 * If-None-Match is malformed. */
MUST_CHECK bool api_documents_expected(const struct api_call *call, int64_t *out_revision,
				       struct error *error);

/* Responds with the stored document; NOT_FOUND when it does not exist. */
void api_documents_send(struct api_call *call, const struct api_documents_answer *answer,
			struct str name);
/* Changes the document and responds with the result: 200, 201 when it is new, 204 when it was
 * deleted (empty body). */
void api_documents_change(struct api_call *call, const struct api_documents_answer *answer,
			  struct str name, int64_t revision, struct str body);
/* As api_documents_change(), but compose(context, …) computes the changes.  The first change must
 * be of the document `name`.  `context` lives in the call's arena. */
void api_documents_compose(struct api_call *call, const struct api_documents_answer *answer,
			   struct str name, documents_compose *compose, void *context);

/* The address of a document: the path and the escaped name. */
struct str api_documents_location(struct str path, struct str name, struct arena *arena);

/* Responds with the body and this ETag, or with 304 when `had` (If-None-Match) equals the ETag. */
void api_documents_reply(struct api *api, uint64_t exchange, int status, struct str etag,
			 struct str location, struct str had, struct str body);

/* Adds the problems of a part of a document to those of the whole.  `pointer` is prefixed to their
 * pointers; line and column are dropped because they refer to a text the client did not send. */
void api_documents_add_problems(struct problems *problems, struct str pointer,
				const struct problems *of_part);

#endif
