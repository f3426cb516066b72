#!/bin/sh
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# An inventory of a folder of kubeconfigs: each file is a cluster, reached by the file's current context and named like the file without its last suffix.
# The folder is $KUBECONFIGS, or else `kubeconfigs` beside this script.
#   KUBECONFIGS=/etc/kube ansible-playbook -i kubeconfigs.sh osso.scheduler.site -e @vars.yml -e fleet_required=true
set -eu

refuse() {
  printf '%s: %s\n' "$0" "$1" >&2
  exit 1
}

# Variables of hosts are in the list.
if [ "${1:-}" = --host ]; then
  echo '{}'
  exit
fi
folder=${KUBECONFIGS:-$(dirname -- "$0")/kubeconfigs}
folder=$(cd -P -- "$folder" 2>/dev/null && pwd) || refuse "set KUBECONFIGS to a folder of kubeconfigs"
hosts='' variables='' names=' '
for file in "$folder"/*; do
  [ -f "$file" ] || continue
  name=${file##*/}
  name=${name%.*}
  case $file in *[\"\\]*) refuse "$file: rename it, for Ansible could not read its name" ;; esac
  case $name in '' | *[!A-Za-z0-9._-]*) refuse "$file: rename it to letters, digits, dots, hyphens and underscores, which a host is named by" ;; esac
  case $names in *" $name "*) refuse "$file: another file is called $name, too" ;; esac
  names="$names$name "
  hosts="$hosts${hosts:+, }\"$name\""
  variables="$variables${variables:+, }\"$name\": {\"cluster_access\": {\"kubeconfig\": \"$file\"}}"
done
[ "$hosts" ] || refuse "there is no kubeconfig in $folder"
printf '{"clusters": {"hosts": [%s]}, "_meta": {"hostvars": {%s}}}\n' "$hosts" "$variables"
