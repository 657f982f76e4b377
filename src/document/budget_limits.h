/* document/budget_limits.h -- documents of kind `budget` as the limits of the ledger (active/ledger.h). */
#ifndef DOCUMENT_BUDGET_LIMITS_H
#define DOCUMENT_BUDGET_LIMITS_H

struct documents;

/* Reads the documents and follows their changes: a higher limit continues the runs that wait for it. */
void budget_limits_open(struct documents *documents);

#endif
