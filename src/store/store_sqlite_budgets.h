/* store/store_sqlite_budgets.h -- the table of budgets and the sums over it, as macros with SQL.
 *
 * Private to the SQLite store; store_sqlite_tables.h describes the table.
 */
#ifndef STORE_STORE_SQLITE_BUDGETS_H
#define STORE_STORE_SQLITE_BUDGETS_H

#include "store/store_rows.h"

/* Since version 7. */
#define STORE_SQLITE_BUDGETS                                  \
	"CREATE TABLE budgets ("                              \
	" name TEXT NOT NULL, run INTEGER NOT NULL,"          \
	" spent INTEGER NOT NULL, reserved INTEGER NOT NULL," \
	" PRIMARY KEY (name, run)) WITHOUT ROWID;"            \
	"CREATE INDEX budgets_run ON budgets (run);"

/* The correct values of the guards of budgets.  A sum stops below the greatest number. */
#define STORE_SQLITE_BUDGET_SUM(guard, amount)                                           \
	"SELECT '" guard "' || name AS name, CAST(min(9223372036854774784,"              \
	" sum((" amount ") / 1000000000) * 1000000000 + sum((" amount ") % 1000000000))" \
	" AS INTEGER) AS value FROM budgets GROUP BY 1"
#define STORE_SQLITE_BUDGET_SUMS                                       \
	STORE_SQLITE_BUDGET_SUM(STORE_BUDGET_USED, "spent + reserved") \
	" UNION ALL " STORE_SQLITE_BUDGET_SUM(STORE_BUDGET_RESERVED, "reserved")

#endif
