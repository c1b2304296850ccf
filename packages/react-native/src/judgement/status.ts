/**
 * Reads `TracerPid` of `/proc/self/status` (proc_pid_status(5)): the process id of the tracer, or 0 if there is none.
 */
export function readTracerPid(text: string): number | undefined {
  const start = `\n${text}`.indexOf(`\n${TRACER_PID_KEY}`);
  const end = text.indexOf("\n", start);
  if (start < 0 || end < 0) return undefined;
  const value = text.slice(start + TRACER_PID_KEY.length, end).trim();
  return /^\d{1,10}$/.test(value) ? Number(value) : undefined;
}

const TRACER_PID_KEY = "TracerPid:";
