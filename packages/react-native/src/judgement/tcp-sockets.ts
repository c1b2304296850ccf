import { eachLine } from "./lines.ts";

/** State `TCP_LISTEN` of the kernel, as `/proc/net/tcp` writes it. */
const LISTEN = "0A";

/** Every port that is listened to, of `/proc/net/tcp` and `tcp6` (proc_net_tcp): `slot: local remote state …`, in hex. */
export function eachListener(text: string, visit: (port: number) => void): void {
  eachLine(text, (line) => {
    const [, local = "", , state] = line.trimStart().split(" ", 4);
    if (state === LISTEN) visit(Number.parseInt(local.slice(local.lastIndexOf(":") + 1), 16));
  });
}
