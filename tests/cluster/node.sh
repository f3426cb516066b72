#!/bin/sh
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Makes a node out of fresh namespaces and becomes its first process.
# usage: node.sh STATE_DIRECTORY NODE, as the first process of new mount, network, PID, UTS and IPC namespaces
#
# What the node's daemons write goes to the state directory or to memory; the machine's own /run, /var and sysctls stay
# untouched. All of it goes away with the namespaces, that is with this process.
set -eu

state=$1
name=$2

# The state directory may be anywhere, below /run or /var too: take hold of it before those are covered.
run=$state/nodes/$name/run
mount -t tmpfs -o mode=755 tmpfs "$run"
mkdir "$run/cluster"
mount --bind "$state" "$run/cluster"
mount --rbind "$run" /run
node=/run/cluster/nodes/$name

mount -t tmpfs -o mode=755 tmpfs /var
ln -s /run /var/run
for directory in lib/containerd lib/kubelet log; do
    mkdir -p "/var/$directory"
    mount --bind "$node/${directory##*/}" "/var/$directory"
done
mkdir -p /var/lib/cni /var/tmp
chmod 1777 /var/tmp

# The kubelet sets these for the whole kernel: let it set copies.
mkdir /run/sysctl
for setting in kernel/keys/root_maxbytes kernel/keys/root_maxkeys kernel/panic kernel/panic_on_oops vm/overcommit_memory vm/panic_on_oom; do
    copy=/run/sysctl/$(echo "$setting" | tr / .)
    cat "/proc/sys/$setting" >"$copy"
    mount --bind "$copy" "/proc/sys/$setting"
done

# Mounts that the kubelet makes have to reach containers, and the other way round.
mount --make-rshared /

hostname "$name"
ip link set lo up
echo 1 >/proc/sys/net/ipv4/ip_forward
# Traffic between two pods of the node that goes by a Service has to pass kube-proxy's rules.
if [ -e /proc/sys/net/bridge/bridge-nf-call-iptables ]; then
    echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables
fi

exec /run/cluster/bin/node-init
