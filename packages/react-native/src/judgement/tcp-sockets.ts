/**
 * Matches a line of `/proc/net/tcp` or `tcp6` (Linux, proc_net_tcp.rst) whose socket listens, and captures its port in
 * hexadecimal. A line reads `slot: local-address:port remote-address:port state …`; the state `0A` is the kernel's
 * `TCP_LISTEN`.
 */
export const LISTENER = /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) \S+ 0A /;
