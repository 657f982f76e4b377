/* tests/unit/contract/broken.c -- the tables of broken.def. */
#include "broken.h"

#define CONTRACT_MODULE broken
#define CONTRACT_FILE   "tests/unit/contract/broken.def"
#include "contract/tables.h"
