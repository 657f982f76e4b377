/* os/system.c -- the thin front of the vtable. */
#include "os/system.h"

int64_t system_wall_us(struct system *system)
{
	return system->ops->wall_us(system);
}

int64_t system_mono_us(struct system *system)
{
	return system->ops->mono_us(system);
}

void system_random(struct system *system, void *bytes, size_t size)
{
	system->ops->random(system, bytes, size);
}

uint64_t system_timer_start(struct system *system, int64_t delay_us, system_callback *callback,
			    void *context, uint64_t argument)
{
	return system->ops->timer_start(system, delay_us, callback, context, argument);
}

void system_timer_stop(struct system *system, uint64_t timer)
{
	system->ops->timer_stop(system, timer);
}

void system_submit(struct system *system, enum system_lane lane, struct job *job)
{
	system->ops->submit(system, lane, job);
}

unsigned system_reader_threads(struct system *system)
{
	return system->ops->reader_threads(system);
}
