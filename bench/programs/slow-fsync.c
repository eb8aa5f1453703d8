/* Preloaded into the server: makes every fsync take SLOW_FSYNC_MS longer, as a slow disk does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void wait_first(void) {
  const char *ms = getenv("SLOW_FSYNC_MS");
  long wait = ms ? atol(ms) : 0;
  struct timespec span = {wait / 1000, (wait % 1000) * 1000000L};
  nanosleep(&span, NULL);
}

int fsync(int file) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  wait_first();
  return real(file);
}

int fdatasync(int file) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  wait_first();
  return real(file);
}
