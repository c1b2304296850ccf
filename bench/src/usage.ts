/** CPU time and resident memory of processes, from the kernel (`/proc`, Linux only). */
import { readdirSync, readFileSync } from "node:fs";

/** Clock ticks per second of `/proc/…/stat`. They are 100 on every Linux on which Node runs. */
const TICKS_PER_SECOND = 100;

interface Stat {
  readonly parent: number;
  /** CPU time in microseconds of all threads, and of ended children for which the process has waited. */
  readonly cpu: number;
}

function statOf(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0);
    return { parent: Number(fields[1]), cpu: (ticks / TICKS_PER_SECOND) * 1e6 };
  } catch {
    return undefined;
  }
}

/** @returns the CPU time in microseconds of a process and all of its descendants. */
export function cpuOf(pid: number): number {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), stat: statOf(Number(name)) }));
  const sum = (root: number): number =>
    all
      .filter(({ stat }) => stat?.parent === root)
      .reduce((total, child) => total + sum(child.pid), statOf(root)?.cpu ?? 0);
  return sum(pid);
}

/** @returns the resident memory of a process in bytes. */
export function residentOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}

/**
 * @returns the CPU time in microseconds that all processes of the machine have used, plus the time that the host gave
 * to other machines (`steal`).
 */
export function machineCpu(): number {
  const [total = ""] = readFileSync("/proc/stat", "latin1").split("\n", 1);
  const [user, nice, system, , , irq, softirq, steal] = total.split(/\s+/).slice(1).map(Number);
  const ticks = [user, nice, system, irq, softirq, steal].reduce<number>((sum, ticks = 0) => sum + ticks, 0);
  return (ticks / TICKS_PER_SECOND) * 1e6;
}
