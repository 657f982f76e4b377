/* tests/unit/contract_runtime/runtime_documents.h -- a module proven by documents; the graph module's
 * tests use it too.
 *
 * documents/<Wire.Name>.json is a document that leaves out what may be left out.
 * printed/<Wire.Name>.json is what it must be printed as, where that is something else: defaults,
 * derived and made values.  The world is always the same: it is 2026-01-12T09:30:00Z, and all
 * dice show 0x11.
 */
#ifndef DOCUMENTS_H
#define DOCUMENTS_H

#include <criterion/criterion.h>
#include <string.h>

#include "contract/type.h"

/* One mistake: `value` (NULL: nothing) put at `pointer` of the entity's document. */
struct mistake {
	type_function *type;
	const char *pointer;
	const char *value;    /* JSON text */
	const char *problems; /* lines "/pointer: text" */
};

struct module {
	const char *folder; /* where documents/, printed/ and names.txt are */
	const struct type *const *types;
	size_t type_count;
	const struct mistake *mistakes;
	size_t mistake_count;
};

/* The entity's document; `pointer` NULL leaves it as it is. */
const struct json *document(const struct module *module, const struct type *type,
			    struct arena *arena, const char *pointer, const char *value);
const void *document_read(const struct type *type, const struct json *json, struct arena *arena,
			  struct problems *problems);

void test_every_entity_has_a_document(const struct module *module);
void test_documents_print_as_they_should(const struct module *module);
void test_every_name_is_there(const struct module *module);
void test_mistakes(const struct module *module);
void test_every_rule_has_a_mistake(const struct module *module);
void test_required_fields_are_missed(const struct module *module);

#endif
