/* Prints the report of a run as JSON: diagnose REPORT… */
#include <advise/advise.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int status = ADVISE_OK;
  advise_run* run = advise_open();
  if (run == NULL) return ADVISE_UNREADABLE;
  for (int i = 1; i < argc && status == ADVISE_OK; ++i) status = advise_add(run, argv[i]);
  if (status == ADVISE_OK) status = advise_diagnose(run);
  if (status == ADVISE_OK) fputs(advise_json(run), stdout);
  fputs(advise_error(run), stderr);
  advise_free(run);
  return status;
}
