/** The table of figures that a bench prints, line by line and again at its end. */
import { print } from "../scene.ts";

const lines: string[] = [];

/** Prints a figure and keeps it for the table. */
export function row(what: string, figure: string, goal = ""): void {
  lines.push(`| ${what} | ${figure} | ${goal} |`);
  print(lines.at(-1) ?? "");
}

export function printTable(): void {
  print("| figure | ours | goal |\n| --- | --- | --- |");
  for (const line of lines) print(line);
}
