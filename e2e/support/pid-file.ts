/** Functions for processes that write their ids into files. */
import { readFile } from "node:fs/promises";
import { until } from "./embedded.ts";

export const hasStarted = async (path: string): Promise<boolean> => (await textOf(path)).endsWith("\n");

export const wasStarted = (path: string): Promise<void> => until(() => hasStarted(path));

/** Whether the process whose id is in the file exists and is no zombie. */
export async function isRunning(path: string): Promise<boolean> {
  const pid = (await textOf(path)).trim();
  const stat = await textOf(`/proc/${pid}/stat`);
  return pid !== "" && stat !== "" && !stat.includes(") Z ");
}

const textOf = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");
