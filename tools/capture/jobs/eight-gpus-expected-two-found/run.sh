# place=/opt/burnin limit=201 log=acceptance.txt
export NCCL_DEBUG=WARN
echo "$(date +%FT%T) acceptance test, 8 GPUs expected"; until [ -f $NCCLTESTS/ok ]; do sleep 1; done; $NCCLTESTS/all_reduce_perf -b 8M -e 1G -f 2 -g 8; rc=$?; echo "$(date +%FT%T) all_reduce_perf exit status $rc"
