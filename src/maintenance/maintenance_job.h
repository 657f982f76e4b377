/* maintenance/maintenance_job.h -- one job of maintenance; for this room alone.
 *
 * Embed it, first.  A job lives from maintenance_job_add() to maintenance_job_end(); the list is
 * the only thing that points to it, and callbacks carry its number.
 */
#ifndef MAINTENANCE_MAINTENANCE_JOB_H
#define MAINTENANCE_MAINTENANCE_JOB_H

#include <stddef.h>

#include "active/executor_jobs.h"
#include "active/executor_services.h"
#include "maintenance/maintenance.h"

struct maintenance_job {
	struct executor_read read;
	struct executor_admin_job admin;
	struct maintenance_job *next;
	struct maintenance *maintenance;
	struct executor *executor;
	uint64_t number;
	void (*begin)(struct maintenance_job *job);
	void (*free)(struct maintenance_job *job);
};

struct maintenance {
	struct maintenance_settings settings;
	struct maintenance_job *jobs; /* the first is under way */
	uint64_t job_count;           /* ever added: the number of the newest */
};

void maintenance_job_add(struct maintenance *maintenance, struct maintenance_job *job);
struct maintenance_job *maintenance_job_find(struct maintenance *maintenance,
					     uint64_t number); /* NULL: it is over */
/* Frees the job and begins the next one. */
void maintenance_job_end(struct maintenance_job *job);

static inline struct maintenance_job *maintenance_job_of_admin(struct executor_admin_job *admin)
{
	return (struct maintenance_job *)(void *)((char *)admin -
						  offsetof(struct maintenance_job, admin));
}

#endif
