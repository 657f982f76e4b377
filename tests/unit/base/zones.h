/* tests/unit/base/zones.h -- installed time zones, for the tests of zone and cron. */
#ifndef TESTS_UNIT_BASE_ZONES_H
#define TESTS_UNIT_BASE_ZONES_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/zone.h"

#define ZONES "/usr/share/zoneinfo/"

static inline struct str zone_bytes(const char *name, struct arena *arena)
{
	char path[256];
	snprintf(path, sizeof(path), ZONES "%s", name);
	FILE *file = fopen(path, "rb");
	if (file == NULL)
		return S("");
	char *bytes = arena_take_text(arena, 65536);
	size_t size = fread(bytes, 1, 65536, file);
	fclose(file);
	return (struct str){ bytes, size };
}

static inline struct zone zone_of(const char *name, struct arena *arena)
{
	struct zone zone = { 0 };
	struct error error = { 0 };
	cr_assert(zone_read(zone_bytes(name, arena), arena, &zone, &error), "%s: %s", name,
		  error.text);
	return zone;
}

/* Sets libc's time zone for the process; every test runs in its own process. */
static inline void libc_zone(const char *name)
{
	char text[256];
	snprintf(text, sizeof(text), ":%s", name);
	setenv("TZ", text, 1);
	tzset();
}

#endif
