/** Reads the whole corpus from this folder, for tests and tools. An app's mock imports single files instead. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type CaseFile, type EvidenceCase, loadCases } from "./load.ts";

export function readCaseFiles(folder: string = import.meta.dirname): readonly CaseFile[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return names.map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as CaseFile);
}

export function readCorpus(folder?: string): ReadonlyMap<string, EvidenceCase> {
  return loadCases(readCaseFiles(folder));
}
