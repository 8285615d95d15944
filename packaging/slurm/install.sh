#!/bin/sh
# Install triage's Slurm hooks, the queue and the worker's units. Run as root; changes no slurm.conf.
#
#   install.sh [--root DIR] [--slurm-user USER] [--python /opt/triage/bin/python]
set -eu
ROOT= SLURM_USER=slurm PYTHON=/opt/triage/bin/python
while [ $# -gt 0 ]; do
    case $1 in
    --root) ROOT=$2 ;;
    --slurm-user) SLURM_USER=$2 ;;
    --python) PYTHON=$2 ;;
    *) echo "usage: install.sh [--root DIR] [--slurm-user USER] [--python PATH]" >&2; exit 2 ;;
    esac
    shift 2
done
here=$(cd "$(dirname "$0")" && pwd)
share=$ROOT/usr/local/share/triage bin=$ROOT/usr/local/bin
hooks=$ROOT/etc/slurm/triage spool=$ROOT/var/spool/triage units=$ROOT/etc/systemd/system

install -d -m 0755 "$hooks" "$spool" "$spool/queue" "$spool/decisions" "$units" "$share" "$bin"
# SlurmUser puts entries in, root's group takes them out; nobody else sees them
install -d -o "$SLURM_USER" -g 0 -m 2770 "$spool/queue/new"
install -d -m 0700 "$spool/queue/work" "$spool/queue/bad" "$spool/nodes" "$spool/state"
install -d -m 0711 "$spool/reports"
install -m 0755 "$here/hooks/triage-enqueue" "$here/hooks/triage-epilog" "$hooks/"
install -m 0644 "$here/hooks/triage-epilog.py" "$hooks/"
install -m 0644 "$here/user/triage-batch.sh" "$share/"
install -m 0755 "$here/user/triage-sbatch" "$bin/"
if [ ! -e "$hooks/triage-hooks.conf" ]; then
    sed "s|/var/spool/triage|$spool|" "$here/hooks/triage-hooks.conf" >"$hooks/triage-hooks.conf"
    chmod 0644 "$hooks/triage-hooks.conf"
fi
for unit in "$here"/systemd/*; do
    sed "s|/opt/triage/bin/python|$PYTHON|" "$unit" >"$units/${unit##*/}"
done
echo "installed below ${ROOT:-/}. Next: the lines of slurm.conf.snippet, scontrol reconfigure, then"
echo "systemctl enable --now triage-slurm-worker.service triage-slurm-sweep.timer"
