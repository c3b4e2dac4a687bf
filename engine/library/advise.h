// advise inside another program, in C: reports of GPU profilers go in, what to fix first comes out,
// as the JSON that `advise REPORT --format json` prints (docs/report.schema.json), byte for byte.
//
//   advise_run* run = advise_open();
//   advise_add(run, "run.sqlite");
//   if (advise_diagnose(run) == ADVISE_OK) puts(advise_json(run));
//   else fputs(advise_error(run), stderr);
//   advise_free(run);
//
// Functions never throw, print or end the program. Runs are independent: threads may each use their
// own; one run is for one thread at a time. Texts are UTF-8 and belong to the run; they hold until
// its next call.
#pragma once

#include <stddef.h>  // NOLINT(modernize-deprecated-headers): C programs include this file

#ifdef __cplusplus
extern "C" {
#endif

// As the exit status of the program.
enum {
  ADVISE_OK = 0,
  ADVISE_WRONG_USAGE = 2,   // an option, a value or a call that makes no sense
  ADVISE_UNREADABLE = 3,    // a report could not be read, or memory or threads ended
  ADVISE_BROKEN_RULES = 4,  // a rule or a file of settings is broken
};

// Reports that are judged together: one, or those of the ranks of a job.
typedef struct advise_run advise_run;  // NOLINT(modernize-use-using): C

// "0.2.0".
const char* advise_version(void);

// Null when there is no memory. The caller frees it.
advise_run* advise_open(void);

// One more report, or a folder of reports.
int advise_add(advise_run* run, const char* path);

// An option of the program, by its long name without dashes: window, gpu, only, skip, rules,
// config, set, jobs (a number), top (a number); no-site, facts (both "yes" or "no"). only, skip,
// rules and set may come several times.
int advise_set(advise_run* run, const char* option, const char* value);

// Reads and judges what was added; may be called again, after further calls of advise_add() and
// advise_set(), too.
int advise_diagnose(advise_run* run);

// The report, ended by a null; "" before advise_diagnose(), and when it failed.
const char* advise_json(const advise_run* run);

// What the last call found wrong, a line for each problem; "" when nothing was.
const char* advise_error(const advise_run* run);

// Null is allowed.
void advise_free(advise_run* run);

#ifdef __cplusplus
}
#endif
