/* os/flight.c -- the ring of phases, and printing it.
 *
 * Every field is atomic by itself, but a phase as a whole is not: a reader on another thread may
 * see a partly overwritten phase and prints it as it is; it never reads outside the ring.  The text
 * is formatted without libc, because a signal handler of a dying process prints it.
 */
#include "os/flight.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/attributes.h"

int64_t flight_now_us(void)
{
	struct timespec now;
	require(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static struct flight_phase *phase_at(struct flight *flight, uint64_t number)
{
	return &flight->phases[number % LIMIT_FLIGHT_PHASES];
}

struct flight_mark flight_begin(struct flight *flight, const char *name, uint64_t subject)
{
	uint64_t number = atomic_load_explicit(&flight->count, memory_order_relaxed) + 1;
	struct flight_mark mark = {
		.name = name,
		.subject = subject,
		.number = number,
		.outer = atomic_load_explicit(&flight->current, memory_order_relaxed),
		.start_us = flight_now_us(),
		.before = work_done,
	};
	struct flight_phase *phase = phase_at(flight, number);
	atomic_store_explicit(&phase->number, number, memory_order_relaxed);
	atomic_store_explicit(&phase->name, name, memory_order_relaxed);
	atomic_store_explicit(&phase->subject, subject, memory_order_relaxed);
	atomic_store_explicit(&phase->start_us, mark.start_us, memory_order_relaxed);
	atomic_store_explicit(&phase->took_us, -1, memory_order_relaxed);
	atomic_store_explicit(&flight->count, number, memory_order_relaxed);
	/* Sequentially consistent with the watchdog going to sleep: either the watchdog sees this
	 * phase, or this thread sees that the watchdog sleeps. */
	atomic_store(&flight->current, number);
	if (flight->watchdog != NULL && watchdog_dozes(flight->watchdog))
		watchdog_wake(flight->watchdog);
	return mark;
}

/* A stall is counted once, by the thread that detects it first.  The watchdog may have reported it
 * while it lasted; its length is known only now. */
static void name_stall(struct flight *flight, const struct flight_mark *mark, int64_t took_us)
{
	flight->stalled = true;
	if (flight->watchdog == NULL)
		return;
	bool again = atomic_exchange(&flight->named, mark->number) == mark->number;
	if (!again)
		atomic_fetch_add(&flight->stalls, 1);
	watchdog_tell(flight->watchdog, mark->name, mark->subject, took_us, again);
}

/* What was worked through since the mark, in all.  Of what is nested the phase around it counts. */
static uint64_t count_work(struct flight *flight, const struct flight_mark *mark)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < WORK_KIND_COUNT; i++) {
		uint64_t bytes = work_done.bytes[i] - mark->before.bytes[i];
		sum += bytes;
		if (mark->outer != 0)
			continue;
		flight->total.bytes[i] += bytes;
		if (flight->most.bytes[i] < bytes)
			flight->most.bytes[i] = bytes;
	}
	return sum;
}

void flight_end(struct flight *flight, struct flight_mark mark)
{
	uint64_t bytes = count_work(flight, &mark);
	int64_t took_us = flight_now_us() - mark.start_us;
	struct flight_phase *phase = phase_at(flight, mark.number);
	/* Nested phases may have overwritten this one in the ring. */
	if (atomic_load_explicit(&phase->number, memory_order_relaxed) == mark.number) {
		atomic_store_explicit(&phase->bytes, bytes, memory_order_relaxed);
		atomic_store_explicit(&phase->took_us, took_us, memory_order_relaxed);
	}
	atomic_store_explicit(&flight->current, mark.outer, memory_order_release);
	if (took_us > LIMIT_LOOP_STALL_MS * INT64_C(1000) && !flight->inner_stalled) {
		name_stall(flight, &mark, took_us);
		flight->inner_stalled = true;
	}
	if (mark.outer == 0)
		flight->inner_stalled = false;
}

void flight_tick(struct flight *flight, int64_t busy_us)
{
	/* Many short phases, or work outside of any phase. */
	if (busy_us > LIMIT_LOOP_STALL_MS * INT64_C(1000) && !flight->stalled) {
		struct flight_mark mark = flight_begin(flight, "turn", 0);
		mark.start_us -= busy_us;
		flight_end(flight, mark);
	}
	flight->stalled = false;
}

/* ---- the text ---------------------------------------------------------------------------- */

struct line {
	char at[200];
	size_t size;
};

static void add_text(struct line *line, const char *text)
{
	for (; *text != '\0' && line->size < sizeof(line->at); text++)
		line->at[line->size++] = *text;
}

/* Adds the number, padded on the left to `width` characters. */
static void add_number(struct line *line, int64_t number, size_t width)
{
	char digits[24];
	size_t count = 0;
	uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
	do {
		digits[count++] = (char)('0' + left % 10);
		left /= 10;
	} while (left > 0);
	if (number < 0)
		digits[count++] = '-';
	for (size_t i = count; i < width; i++)
		add_text(line, " ");
	while (count > 0 && line->size < sizeof(line->at))
		line->at[line->size++] = digits[--count];
}

static void end_line(struct line *line, int file)
{
	if (line->size == sizeof(line->at))
		line->size--;
	line->at[line->size++] = '\n';
	(void)!write(file, line->at, line->size);
	line->size = 0;
}

static void print_phase(const struct flight_phase *phase, int64_t now_us, struct line *line)
{
	const char *name = atomic_load_explicit(&phase->name, memory_order_relaxed);
	int64_t start = atomic_load_explicit(&phase->start_us, memory_order_relaxed);
	int64_t took = atomic_load_explicit(&phase->took_us, memory_order_relaxed);
	add_number(line, now_us - start, 12);
	if (took < 0) {
		add_text(line, "    under way");
	} else {
		add_text(line, " ");
		add_number(line, took, 12);
	}
	add_text(line, "  ");
	add_text(line, name == NULL ? "?" : name);
	add_text(line, " ");
	add_number(line, (int64_t)atomic_load_explicit(&phase->subject, memory_order_relaxed), 0);
	uint64_t bytes = atomic_load_explicit(&phase->bytes, memory_order_relaxed);
	if (took < 0 || bytes == 0)
		return;
	add_text(line, ", ");
	add_number(line, (int64_t)bytes, 0);
	add_text(line, " bytes");
}

void flight_print(const struct flight *flight, const char *why, int file)
{
	struct line line = { .size = 0 };
	struct timespec wall = { 0 };
	int64_t now_us = flight_now_us();
	clock_gettime(CLOCK_REALTIME, &wall);
	add_text(&line, "baton flight recorder: ");
	add_text(&line, why);
	end_line(&line, file);
	add_text(&line, "written at ");
	add_number(&line, (int64_t)wall.tv_sec, 0);
	add_text(&line, " s after 1970 by process ");
	add_number(&line, getpid(), 0);
	end_line(&line, file);
	add_text(
		&line,
		"began us ago      took us  phase subject, bytes worked through; the newest first");
	end_line(&line, file);
	uint64_t count = atomic_load_explicit(&flight->count, memory_order_acquire);
	for (uint64_t i = 0; i < LIMIT_FLIGHT_PHASES && i < count; i++) {
		print_phase(&flight->phases[(count - i) % LIMIT_FLIGHT_PHASES], now_us, &line);
		end_line(&line, file);
	}
}
