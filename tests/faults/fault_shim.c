/* Loaded before the C library (LD_PRELOAD): what a disk and other processes may do to a file while
 * it is read. FAULT_PATH names the file by the end of its path; FAULT says what happens once
 * FAULT_AFTER bytes of it were read:
 *   eio    reading fails, as on a broken disk
 *   cut    the file is cut to half of what was read
 *   swap   another file (FAULT_OTHER) takes its place
 *   clock  nothing; but the clock of the system jumps between 1970 and 2100 at each look
 *   ahead  nothing; but the clock of the system, and the one that only goes forward, are a day
 * later at each look Several threads may read.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Atomic long long seen = 0;
static _Atomic int done = 0;
static _Atomic int looks = 0;

/* -1 when the read is to fail. */
static int before_read(int file) {
  const char* wanted = getenv("FAULT_PATH");
  const char* fault = getenv("FAULT");
  char link[64], path[PATH_MAX];
  if (wanted == NULL || fault == NULL || done) return 0;
  snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof(path) - 1);
  if (length < (ssize_t)strlen(wanted)) return 0;
  path[length] = '\0';
  if (strcmp(path + length - strlen(wanted), wanted) != 0) return 0;
  if (seen < atoll(getenv("FAULT_AFTER"))) return 0;
  if (strcmp(fault, "eio") == 0) {
    errno = EIO;
    return -1;
  }
  if (strcmp(fault, "clock") == 0 || strcmp(fault, "ahead") == 0 || done++ > 0) return 0;
  if (strcmp(fault, "cut") == 0 && truncate(path, seen / 2) != 0) abort();
  if (strcmp(fault, "swap") == 0 && rename(getenv("FAULT_OTHER"), path) != 0) abort();
  return 0;
}

static ssize_t counted(int file, ssize_t got) {
  const char* wanted = getenv("FAULT_PATH");
  char link[64], path[PATH_MAX];
  if (wanted == NULL || got <= 0) return got;
  snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof(path) - 1);
  if (length < (ssize_t)strlen(wanted)) return got;
  path[length] = '\0';
  if (strcmp(path + length - strlen(wanted), wanted) == 0) seen += got;
  return got;
}

ssize_t read(int file, void* into, size_t size) {
  static ssize_t (*next)(int, void*, size_t);
  if (next == NULL) next = (ssize_t(*)(int, void*, size_t))dlsym(RTLD_NEXT, "read");
  return before_read(file) != 0 ? -1 : counted(file, next(file, into, size));
}

ssize_t pread(int file, void* into, size_t size, off_t at) {
  static ssize_t (*next)(int, void*, size_t, off_t);
  if (next == NULL) next = (ssize_t(*)(int, void*, size_t, off_t))dlsym(RTLD_NEXT, "pread");
  return before_read(file) != 0 ? -1 : counted(file, next(file, into, size, at));
}

ssize_t pread64(int file, void* into, size_t size, off_t at) { return pread(file, into, size, at); }

/* What a clock says in the place of `now`. */
static time_t jumped(time_t now, int only_forward) {
  const char* fault = getenv("FAULT");
  if (fault != NULL && strcmp(fault, "ahead") == 0) return now + 86400 * (time_t)++looks;
  if (fault == NULL || strcmp(fault, "clock") != 0 || only_forward) return now;
  return looks++ % 2 == 0 ? 3600 : 4102444800;
}

time_t time(time_t* into) {
  static time_t (*next)(time_t*);
  if (next == NULL) next = (time_t(*)(time_t*))dlsym(RTLD_NEXT, "time");
  const time_t now = jumped(next(NULL), 0);
  if (into != NULL) *into = now;
  return now;
}

int clock_gettime(clockid_t clock, struct timespec* into) {
  static int (*next)(clockid_t, struct timespec*);
  if (next == NULL) next = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  const int failed = next(clock, into);
  if (failed == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC)) {
    into->tv_sec = jumped(into->tv_sec, clock == CLOCK_MONOTONIC);
  }
  return failed;
}
