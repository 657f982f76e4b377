/* active/ledger_entry.h -- what the ledger knows of one budget; for ledger.c and ledger_read.c. */
#ifndef ACTIVE_LEDGER_ENTRY_H
#define ACTIVE_LEDGER_ENTRY_H

#include "active/ledger.h"

/* A run with a turn that waits for the budget, or that is paused for it. */
struct ledger_waiter {
	struct ledger_waiter *next, *previous;
	struct ledger_entry *entry;
	struct uuid run;
	int64_t amount; /* what its turn would reserve */
	int64_t since;  /* paused: since when */
	bool woken;     /* its wake, or its resume, is on its way */
};

struct ledger_list {
	struct ledger_waiter *first, *last;
	size_t count;
};

struct ledger_entry {
	struct arena arena;
	struct str name;
	int64_t used, reserved;               /* as committed; used includes reserved */
	int64_t flying_used, flying_reserved; /* what appends at the writer may add */
	uint64_t moves;                       /* commits that have moved it */
	bool learned;                         /* a guard has refused an append */
	struct ledger_list waiting, paused;
	struct ledger_entry *next_changed;
	bool changed;
};

/* Made when it is missing. */
struct ledger_entry *ledger_entry(struct ledger *ledger, struct str name);
void ledger_note_paused(struct executor *executor, const struct uuid *run, struct str budget,
			int64_t amount, int64_t since);

#endif
