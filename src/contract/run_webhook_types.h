/* contract/run_webhook_types.h -- outgoing webhooks and notifications: the types of contracts/run_webhook.def. */
#ifndef CONTRACT_RUN_WEBHOOK_TYPES_H
#define CONTRACT_RUN_WEBHOOK_TYPES_H

#include "contract/contract.h"
#include "contract/run_question_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_webhook.def"
#include "contract/expand.h"

#endif
