/* os/platform.c -- calls through the vtable. */
#include "os/platform.h"

int64_t platform_wall_us(struct platform *platform)
{
	return platform->ops->wall_us(platform);
}

int64_t platform_mono_us(struct platform *platform)
{
	return platform->ops->mono_us(platform);
}

void platform_random(struct platform *platform, void *bytes, size_t size)
{
	platform->ops->random(platform, bytes, size);
}

uint64_t platform_timer_start(struct platform *platform, int64_t delay_us,
			      platform_callback *callback, void *context, uint64_t argument)
{
	return platform->ops->timer_start(platform, delay_us, callback, context, argument);
}

void platform_timer_stop(struct platform *platform, uint64_t timer)
{
	platform->ops->timer_stop(platform, timer);
}

void platform_submit(struct platform *platform, enum platform_lane lane, struct job *job)
{
	platform->ops->submit(platform, lane, job);
}

unsigned platform_reader_threads(struct platform *platform)
{
	return platform->ops->reader_threads(platform);
}

void platform_child_await(struct platform *platform, platform_callback *callback, void *context,
			  uint64_t argument)
{
	platform->ops->child_await(platform, callback, context, argument);
}
