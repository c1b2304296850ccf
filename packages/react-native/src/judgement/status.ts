/** `TracerPid` of `/proc/self/status` (proc_pid_status(5)): process id of the tracer, 0 for none. */
export function readTracerPid(text: string): number | undefined {
  const start = text.startsWith(KEY) ? 0 : text.indexOf(`\n${KEY}`) + 1;
  if (start === 0 && !text.startsWith(KEY)) return undefined;
  const end = text.indexOf("\n", start);
  if (end < 0) return undefined;
  const value = text.slice(start + KEY.length, end).trim();
  return /^\d{1,10}$/.test(value) ? Number(value) : undefined;
}

const KEY = "TracerPid:";
