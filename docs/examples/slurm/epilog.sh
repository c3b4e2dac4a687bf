#!/bin/sh
# Epilog of Slurm (slurm.conf: Epilog=/etc/slurm/advise-epilog.sh). A job that leaves reports in the folder
# advise-JOBID of its working directory finds the fix list beside them: advise.txt. Other jobs cost nothing.
# Slurm runs this as root on each node of the job; everything is done as the job's user.
set -u
folder=${SLURM_JOB_WORK_DIR:-}/advise-${SLURM_JOB_ID:-}
advise=${ADVISE:-/usr/local/bin/advise} # root's PATH may not have it

if [ -z "${SLURM_JOB_USER:-}" ]; then exit 0; fi
as_user() { runuser -u "$SLURM_JOB_USER" -- "$@"; }

cd / # no advise.toml of the job's folder
as_user test -d "$folder" || exit 0
as_user mkdir "$folder/.advise" 2>/dev/null || exit 0 # the first node to get here does the work
as_user timeout 120 nice "$advise" "$folder" --jobs 2 --progress never -o "$folder/advise.txt" ||
  as_user rm -f "$folder/advise.txt"
exit 0 # a failed epilog would drain the node
