import { everyGuard, type Guards } from "./guards.ts";
import { captures } from "./lines.ts";

/** `slot: local-address:port remote-address:port state …`, in hex; `0A` is the kernel's `TCP_LISTEN`. */
const LISTENER = /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) \S+ 0A /;
const SOCKET = /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) \S+ \S+ /;

/** The ports that are listened to in `/proc/net/tcp` and `tcp6` (proc_net_tcp), each once, in hex as they stand there. */
export function listenersOf(text: string, guards: Guards = everyGuard): readonly string[] {
  return captures(text, guards("listeners-only") ? LISTENER : SOCKET);
}
