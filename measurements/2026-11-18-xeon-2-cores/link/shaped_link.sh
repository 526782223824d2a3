#!/usr/bin/env bash
# Two ranks with a network of 1 Gbit/s between them, on one machine: each in a network namespace of its own, a pair of veth, `tbf` on both ends. As root.
#   shaped_link.sh up [RATE]      makes them; `down` removes them
#   shaped_link.sh mpiexec COMMAND…   two ranks of MPICH, one in each
#   shaped_link.sh ping
set -euo pipefail
case $1 in
up)
  ip netns add ordito-a; ip netns add ordito-b
  ip link add ordito0 netns ordito-a type veth peer name ordito0 netns ordito-b
  for end in a:1 b:2; do
    space=ordito-${end%:*}
    ip -n "$space" link set lo up
    ip -n "$space" address add "10.77.0.${end#*:}/24" dev ordito0
    ip -n "$space" link set ordito0 up
    ip netns exec "$space" tc qdisc add dev ordito0 root tbf rate "${2:-1gbit}" burst 128kb latency 50ms
  done
  ;;
down) ip netns del ordito-a; ip netns del ordito-b ;;
ping) ip netns exec ordito-a ping -q -c 200 -i 0.002 10.77.0.2 ;;
mpiexec)
  # What MPICH takes for ssh: HOST COMMAND….
  ssh=$(mktemp); trap 'rm -f "$ssh"' EXIT
  printf '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nshift\nexec ip netns exec ordito-b unshare --uts sh -c "hostname ordito-b; $*"\n' >"$ssh"
  chmod +x "$ssh"
  export UCX_TLS=tcp UCX_NET_DEVICES=ordito0 FI_PROVIDER=tcp FI_TCP_IFACE=ordito0 MPIR_CVAR_NOLOCAL=1
  ip netns exec ordito-a "$(command -v mpiexec)" -launcher ssh -launcher-exec "$ssh" -iface ordito0 -hosts 10.77.0.1,10.77.0.2 -ppn 1 -n 2 "${@:2}"
  ;;
esac
