/* lsp/language_answers.h -- answers about one open file: what completion, hover and definition say; private to lsp. */
#ifndef LSP_LANGUAGE_ANSWERS_H
#define LSP_LANGUAGE_ANSWERS_H

#include "lsp/language_server.h"
#include "lsp/text_position.h"

struct json_writer;

/* A question about a position of a file. */
struct language_question {
	const struct lsp_host *host;
	struct str uri, text;
	struct text_position at;
	bool utf8;
	struct arena *arena;
};

/* Each writes the `result` of the response. */
void language_complete(const struct language_question *question, struct json_writer *writer);
void language_hover(const struct language_question *question, struct json_writer *writer);
void language_define(const struct language_question *question, struct json_writer *writer);

/* The item of a catalog with this name; NULL = none. */
const struct json *lsp_catalog_find(const struct language_question *question,
				    enum lsp_catalog which, struct str name);

#endif
