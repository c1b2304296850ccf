import { captures } from "./lines.ts";

/** `slot: local-address:port remote-address:port state …`, in hex; `0A` is the kernel's `TCP_LISTEN`. */
export const LISTENER = /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) \S+ 0A /;

/** The ports that are listened to in `/proc/net/tcp` and `tcp6` (proc_net_tcp), each once, in hex as they stand there. */
export function listenersOf(text: string, listener: RegExp = LISTENER): readonly string[] {
  return captures(text, listener);
}
