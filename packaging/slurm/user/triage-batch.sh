# Post-mortem of a job without an administrator: source this at the top of a batch script.
#
#   #SBATCH --signal=B:USR1@120
#   . triage-batch.sh
#   triage_run srun python train.py
#
# The trap runs when the script ends or is asked to end (USR1, two minutes before the time limit). Nothing
# runs after SIGKILL, an OOM kill of the script or a lost node: for those, submit with `triage-sbatch`,
# which adds a small job that starts when this one has failed.

triage_report() {
    status=$?
    [ "${TRIAGE_DONE:-}" ] && return
    TRIAGE_DONE=1
    [ "$status" = 0 ] && [ "${1:-}" != signal ] && return
    # a step of its own: it runs although the other step still holds the job's resources
    srun --overlap --ntasks=1 --nodes=1 --quiet \
        "${TRIAGE:-triage}" slurm "$SLURM_JOB_ID" --exit-zero >"triage-$SLURM_JOB_ID.txt" 2>&1 </dev/null || :
}

# the program runs in the background: a shell handles signals only between commands, and in `wait`
triage_run() {
    "$@" &
    triage_pid=$!
    wait "$triage_pid"
    triage_status=$?
    while [ "$triage_status" -gt 128 ] && kill -0 "$triage_pid" 2>/dev/null; do
        wait "$triage_pid"
        triage_status=$?
    done
    return "$triage_status"
}

trap 'triage_report signal' USR1
trap 'triage_report exit' EXIT
