/* document/budget_limits.c -- passes the limits of budgets on to the ledger. */
#include "document/budget_limits.h"

#include "active/ledger.h"
#include "base/log.h"
#include "contract/document_kind.h"
#include "contract/run_budget_types.h"
#include "document/documents_state.h"

static void limit_changed(void *context, const struct watched_document *document)
{
	struct documents *documents = context;
	AUTO(arena) arena = { 0 };
	struct error error;
	int64_t limit = -1;
	if (document->body.size > 0) {
		const struct run_budget *budget =
			document_read_stored(DOCUMENT_BUDGET, document->body, &arena, &error);
		if (budget == NULL) {
			log_line(LOG_ERROR, "budget " STR_FMT " stays as it is: %s",
				 STR_ARG(document->name), error.text);
			return;
		}
		limit = budget_picodollars(budget->limit_usd);
	}
	ledger_set_limit(documents->executor, document->name, limit);
}

static void ignore_loaded(void *context, uint64_t count)
{
	(void)context;
	(void)count;
}

void budget_limits_open(struct documents *documents)
{
	documents_watch(documents, document_kind_name(DOCUMENT_BUDGET), limit_changed,
			ignore_loaded, documents);
}
