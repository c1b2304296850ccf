import { eachLine } from "./lines.ts";

/** Every abstract name of `/proc/net/unix`, where the kernel writes its leading zero byte as `@`. */
export function eachAbstractSocket(text: string, visit: (name: string) => void): void {
  eachLine(text, (line) => {
    const at = line.indexOf(" @");
    if (at >= 0) visit(line.slice(at + 2));
  });
}
