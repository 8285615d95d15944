#!/bin/bash
# A real Slurm on one machine, for tests: munge, MariaDB, slurmdbd, slurmctld and virtual nodes.
#
#   cluster.sh start [DIR]     start everything below DIR (default: a new one under /tmp); prints DIR/env
#   cluster.sh stop DIR        stop it and remove DIR
#   cluster.sh logs DIR        the end of every log
#
# Needs root and Debian's slurm-wlm, slurmdbd, mariadb-server and munge. Everything listens on loopback
# only, and nothing is written outside of DIR except munge's socket directory below DIR.
# TRIAGE_CONF, a file, is appended to slurm.conf (hooks). NODES: how many nodes (default 2).
set -eu

ACTION=${1:-}
DIR=${2:-}
NODES=${NODES:-2}
PORT=${PORT:-27817}

die() { echo "cluster.sh: $*" >&2; exit 1; }

need() {
    [ "$(id -u)" = 0 ] || die "needs root (jobs of several users are run)"
    for tool in munged mariadbd mariadb-install-db slurmdbd slurmctld slurmd sacctmgr; do
        PATH=$PATH:/usr/sbin command -v "$tool" >/dev/null || die "$tool is missing: apt-get install slurm-wlm slurmdbd mariadb-server munge"
    done
}

wait_for() { # seconds, command...
    local left=$(($1 * 5)); shift
    until timeout 5 "$@" >/dev/null 2>&1; do
        left=$((left - 1))
        [ $left -gt 0 ] || return 1
        sleep 0.2
    done
}

start_munge() {
    mkdir -p "$DIR/munge"
    chmod 0755 "$DIR/munge"
    dd if=/dev/urandom of="$DIR/munge/key" bs=1024 count=1 status=none
    chown -R munge: "$DIR/munge"
    chmod 0400 "$DIR/munge/key"
    setpriv --reuid=munge --regid=munge --clear-groups munged --force --key-file="$DIR/munge/key" \
        --socket="$DIR/munge/socket" --pid-file="$DIR/munge/munged.pid" \
        --log-file="$DIR/munge/munged.log" --seed-file="$DIR/munge/seed"
    wait_for 10 test -S "$DIR/munge/socket" || die "munged did not start"
}

start_mariadb() {
    mkdir -p "$DIR/mysql"
    chown mysql: "$DIR/mysql"
    mariadb-install-db --no-defaults --user=mysql --datadir="$DIR/mysql/data" --auth-root-authentication-method=socket \
        --skip-test-db >"$DIR/mysql-install.log" 2>&1 || die "mariadb-install-db failed: $DIR/mysql-install.log"
    mariadbd --no-defaults --user=mysql --datadir="$DIR/mysql/data" --socket="$DIR/mysql/socket" \
        --pid-file="$DIR/mysql/pid" --bind-address=127.0.0.1 --port=$((PORT + 9)) \
        --innodb-buffer-pool-size=64M --innodb-lock-wait-timeout=900 --innodb-flush-log-at-trx-commit=0 \
        --log-error="$DIR/mysql/log" >/dev/null 2>&1 &
    wait_for 30 mariadb-admin --no-defaults --socket="$DIR/mysql/socket" ping || die "MariaDB did not start: $DIR/mysql/log"
    mariadb --no-defaults --socket="$DIR/mysql/socket" -e "
        CREATE DATABASE slurm; CREATE USER slurm@127.0.0.1 IDENTIFIED BY 'slurm'; CREATE USER slurm@localhost IDENTIFIED BY 'slurm';
        GRANT ALL ON slurm.* TO slurm@127.0.0.1; GRANT ALL ON slurm.* TO slurm@localhost;"
}

write_conf() {
    mkdir -p "$DIR/etc" "$DIR/state" "$DIR/log" "$DIR/run"
    cat >"$DIR/etc/slurmdbd.conf" <<CONF
AuthType=auth/munge
AuthInfo=socket=$DIR/munge/socket
DbdHost=localhost
DbdPort=$((PORT + 2))
SlurmUser=slurm
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$((PORT + 9))
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm
LogFile=$DIR/log/slurmdbd.log
PidFile=$DIR/run/slurmdbd.pid
CONF
    chmod 0600 "$DIR/etc/slurmdbd.conf"
    {
        cat <<CONF
ClusterName=triagetest
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=slurm
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$DIR/munge/socket
SlurmctldPort=$PORT
SlurmctldPidFile=$DIR/run/slurmctld.pid
SlurmctldLogFile=$DIR/log/slurmctld.log
SlurmdPidFile=$DIR/run/slurmd-%n.pid
SlurmdLogFile=$DIR/log/slurmd-%n.log
SlurmdSpoolDir=$DIR/spool-%n
StateSaveLocation=$DIR/state
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePort=$((PORT + 2))
AccountingStoragePass=$DIR/munge/socket
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=5
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PriorityType=priority/basic
ReturnToService=2
SlurmdParameters=config_overrides
KillWait=2
SlurmdTimeout=10
InactiveLimit=0
MinJobAge=300
WaitTime=0
OverTimeLimit=0
PropagateResourceLimits=NONE
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
SchedulerParameters=bf_interval=2,sched_interval=2,batch_sched_delay=0,defer
JobRequeue=1
MaxArraySize=2001
MaxJobCount=5000
CONF
        local cpus=16 i
        for i in $(seq 1 "$NODES"); do
            echo "NodeName=node$i NodeHostname=localhost NodeAddr=127.0.0.1 Port=$((PORT + 10 + i)) CPUs=$cpus RealMemory=1000 State=UNKNOWN"
        done
        echo "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 OverSubscribe=NO"
        echo "PartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 OverSubscribe=NO"
        [ -z "${TRIAGE_CONF:-}" ] || cat "$TRIAGE_CONF"
    } >"$DIR/etc/slurm.conf"
    # "disabled" exists since 23.02; before that, v1 is the plugin that does nothing unless something uses it
    local plugin=disabled
    case $(slurmd -V) in slurm*\ 20.* | slurm*\ 21.* | slurm*\ 22.*) plugin=cgroup/v1 ;; esac
    echo "CgroupPlugin=$plugin" >"$DIR/etc/cgroup.conf"
    chown -R slurm: "$DIR/etc/slurmdbd.conf" "$DIR/state" "$DIR/log"
    chmod 0755 "$DIR" "$DIR/etc" "$DIR/log" "$DIR/run"
    chmod 0777 "$DIR/run"
}

start_slurm() {
    export SLURM_CONF="$DIR/etc/slurm.conf"
    # slurmdbd looks for slurmdbd.conf beside SLURM_CONF
    setpriv --reuid=slurm --regid=slurm --clear-groups slurmdbd
    wait_for 20 timeout 5 sacctmgr -n show cluster || die "slurmdbd did not start: $DIR/log/slurmdbd.log"
    timeout 20 sacctmgr -i add cluster triagetest >/dev/null 2>&1 || true
    setpriv --reuid=slurm --regid=slurm --clear-groups slurmctld
    wait_for 30 scontrol ping || die "slurmctld did not start: $DIR/log/slurmctld.log"
    local i
    for i in $(seq 1 "$NODES"); do
        mkdir -p "$DIR/spool-node$i"
        slurmd -N "node$i" || die "slurmd of node$i did not start: $DIR/log/slurmd-node$i.log"
    done
    wait_for 30 sh -c "sinfo -h -N -p main -o %t | sort | uniq -c | grep -q '^ *$NODES idle'" || die "nodes did not become idle: $(sinfo 2>&1)"
}

start() {
    need
    PATH=$PATH:/usr/sbin:/sbin
    [ -n "$DIR" ] || DIR=$(mktemp -d /tmp/slurm-cluster.XXXXXX)
    mkdir -p "$DIR"
    chmod 0755 "$DIR"
    # whatever fails on the way, nothing stays behind; its logs are shown first
    trap 'tail -n 5 "$DIR"/log/*.log >&2 2>/dev/null || true; stop >/dev/null 2>&1' EXIT
    start_munge
    start_mariadb
    write_conf
    start_slurm
    echo "SLURM_CONF=$DIR/etc/slurm.conf" >"$DIR/env"
    trap - EXIT
    echo "$DIR/env"
}

stop() {
    unset SLURM_CONF
    [ -n "$DIR" ] && [ -d "$DIR" ] || die "no such directory: $DIR"
    local pid file
    # daemons in the order in which they depend on each other; steps die with their slurmd's KillWait
    for file in "$DIR"/run/slurmctld.pid "$DIR"/run/slurmd-*.pid "$DIR"/run/slurmdbd.pid "$DIR"/mysql/pid "$DIR"/munge/munged.pid; do
        [ -r "$file" ] || continue
        pid=$(cat "$file")
        kill "$pid" 2>/dev/null || continue
        wait_for 8 sh -c "! kill -0 $pid" || kill -9 "$pid" 2>/dev/null || true
    done
    # jobs and their slurmstepd outlive a slurmd; all of them carry SLURM_CONF
    for file in /proc/[0-9]*/environ; do
        pid=${file#/proc/}
        pid=${pid%/environ}
        [ "$pid" != $$ ] || continue
        if tr '\0' '\n' 2>/dev/null <"$file" | grep -q "^SLURM_CONF=$DIR/"; then kill -9 "$pid" 2>/dev/null || true; fi
    done
    rm -rf "$DIR"
}

case "$ACTION" in
    start) start ;;
    stop) stop ;;
    logs) tail -n 25 "$DIR"/log/*.log "$DIR"/mysql/log ;;
    *) die "usage: cluster.sh start [DIR] | stop DIR | logs DIR" ;;
esac
