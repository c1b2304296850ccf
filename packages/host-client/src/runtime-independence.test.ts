import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const sources = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(".ts") && !/\.(test|fixture)\.ts$/.test(file))
  .map((file) => ({ file, source: readFileSync(join(import.meta.dirname, file), "utf8") }));

it("source files import only files of this package and types of the contract", () => {
  const imports = sources.flatMap(({ file, source }) =>
    [...source.matchAll(/^(?:import|export)\b([^;]*?) from "([^"]+)"|\b(?:import|require)\s*\(/gm)].map(
      ([, what = "", from = "?"]) => ({ file, isType: what.startsWith(" type "), from }),
    ),
  );
  expect(imports.length).toBeGreaterThan(30);
  expect(
    imports.filter(
      ({ from, isType }) => !/^\.\/.+\.ts$/.test(from) && !(isType && from === "@device-risk-signals/contract"),
    ),
  ).toEqual([]);
});

/**
 * A program for a process without the globals that Hermes lacks, and without some other globals. Its `fetch` does not
 * answer the first call.
 */
const SCRIPT = `
  const { createOutbox, createSignalClient } = await import(INDEX);
  const kept = ["setTimeout", "clearTimeout", "console"];
  const language = new Set(["globalThis", "Infinity", "NaN", "undefined", "Object", "Function", "Array", "Number",
    "parseInt", "parseFloat", "Boolean", "String", "Symbol", "Date", "Promise", "RegExp", "Error", "TypeError",
    "RangeError", "JSON", "Math", "Map", "Set", "WeakMap", "Uint8Array", "ArrayBuffer", "Reflect", "Proxy", "BigInt"]);
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!language.has(name) && !kept.includes(name)) delete globalThis[name];
  }
  let answers = 0;
  const client = createSignalClient({
    baseUrl: "http://10.0.2.2:8080",
    fetch: async () => {
      if (answers++ === 0) return new Promise(() => {});
      return { status: 201, headers: { get: () => null }, text: async () => '{"event_id":"e","created":true}' };
    },
    token: async () => "t",
    sdkVersion: "1",
    platform: "android",
    randomBytes: (length) => Array.from({ length }, (_, index) => index),
    timeoutMs: 20,
    baseDelayMs: 1,
  });
  const items = new Map();
  const outbox = createOutbox({
    client,
    onDropped: () => {},
    storage: {
      getItem: (name) => items.get(name),
      setItem: (name, value) => items.set(name, value),
      removeItem: (name) => items.delete(name),
    },
  });
  const event = { session_id: "s", event_type: "device_intel_collection", schema_version: 1, probes: {},
    collected_at: new Date().toISOString() };
  const result = await outbox.send({ action: { id: "a", type: "t" }, event });
  const removed = ["crypto", "AbortController", "TextEncoder", "URL", "structuredClone", "fetch", "Buffer"];
  console.log(JSON.stringify({ result, left: removed.filter((name) => name in globalThis) }));
`;

it("the client needs only the language and timers: no crypto, AbortController, TextEncoder, URL", async () => {
  const index = JSON.stringify(pathToFileURL(join(import.meta.dirname, "index.ts")).href);
  const script = SCRIPT.replace("INDEX", index);
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
  expect(JSON.parse(stdout)).toEqual({
    result: { outcome: "stored", eventId: "e", attempts: 2, queued: false },
    left: [],
  });
});
