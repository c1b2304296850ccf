/**
 * `npm run bench:sdk`: measures what the SDK costs an app. Prints the size of the SDK's bundle, minified and
 * compressed, and the sizes of two packages that apps use for similar observations. Then prints the JavaScript time of
 * a full collection, and the time in which rules judge the largest evidence.
 */
import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { cpus } from "node:os";
import { gzipSync } from "node:zlib";
import { type Plugin, rolldown } from "rolldown";
import { osIntegrityAndroid } from "../../packages/react-native/src/judgement/os-integrity-android.ts";
import { sampleEvent } from "../../packages/react-native/src/jest/mock.ts";
import { median } from "./median.ts";

const require = createRequire(new URL("../../tools/package.json", import.meta.url));
const packages = join(import.meta.dirname, "../../packages");
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Resolves files as Metro does: `NAME.android.ts` or `NAME.ios.ts`, if it exists, replaces `NAME.ts`. */
function platformFiles(platform: string): Plugin {
  return {
    name: "platform-files",
    resolveId(specifier, importer) {
      if (importer === undefined || !/^\..*\.ts$/.test(specifier)) return undefined;
      const path = join(dirname(importer), specifier).replace(/\.ts$/, `.${platform}.ts`);
      return existsSync(path) ? path : undefined;
    },
  };
}

/** @returns the bytes of a file and of all its imports except React and React Native, minified and compressed. */
async function sizeOf(input: string, platform: string): Promise<number> {
  const bundle = await rolldown({
    plugins: [platformFiles(platform)],
    input,
    external: [/^react(-native)?($|\/)/],
    platform: "neutral",
    resolve: { mainFields: ["react-native", "module", "main"] },
    moduleTypes: { ".js": "jsx" },
    logLevel: "silent",
  });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  const code = output.map((chunk) => ("code" in chunk ? chunk.code : "")).join("");
  // The bundler keeps these notes for other bundlers. The bundle of an app does not contain them.
  return gzipSync(code.replaceAll("/* @__PURE__ */ ", ""), { level: 9 }).length;
}

async function medianMsOf(rounds: number, work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return median(times);
}

/**
 * Makes a text of this size in the form of `/proc/self/maps` on a clean phone: four mappings for each library, and one
 * anonymous mapping.
 */
function makeMaps(bytes: number): string {
  const permissions = ["r--p", "r-xp", "r--p", "rw-p", "rw-p"];
  const lines: string[] = [];
  for (let at = 0, size = 0; size < bytes; at++) {
    const library = Math.floor(at / permissions.length);
    const name =
      at % permissions.length === 4 ? "[anon:scudo:primary]" : `/apex/com.android.art/lib64/lib${library}.so`;
    const start = (0x70_0000_0000 + at * 0x1000).toString(16);
    const end = (0x70_0000_1000 + at * 0x1000).toString(16);
    const line = `${start}-${end} ${permissions[at % permissions.length]} 00000000 fd:05 ${1_000 + library}   ${name}\n`;
    lines.push(line);
    size += line.length;
  }
  return lines.join("");
}

const judgements = Object.values(osIntegrityAndroid());
function judgeMaps(text: string): void {
  // Each round has a new object, because the judgement caches its conclusions by the object.
  const evidence = { maps: { text, truncated: false } };
  for (const judgement of judgements) judgement.judge(evidence);
}

const sizes = {
  "@device-risk-signals/react-native": join(packages, "react-native/src/index.ts"),
  "react-native-device-info": require.resolve("react-native-device-info"),
  "jail-monkey": require.resolve("jail-monkey"),
  "@device-risk-signals/host-client": join(packages, "host-client/src/index.ts"),
};

const text = JSON.stringify(Array.from({ length: 700 }, (_, index) => ({ [`field${index}`]: `${index}` })));
const parse = await medianMsOf(300, () => JSON.parse(text) as unknown);
print(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version};`);
print(`JSON.parse of ${text.length} bytes takes ${(parse * 1_000).toFixed(0)} µs here, during other work\n`);
print("| JavaScript in a bundle, minified and gzip | bytes, Android | bytes, iOS | goal |\n| --- | --- | --- | --- |");
for (const [name, input] of Object.entries(sizes)) {
  const goal = name.endsWith("/react-native") ? "≤ 14,336" : name.endsWith("host-client") ? "≤ 4,096" : "";
  print(`| ${name} | ${await sizeOf(input, "android")} | ${await sizeOf(input, "ios")} | ${goal} |`);
}

print("\n| time in JavaScript, median | ms | goal |\n| --- | --- | --- |");
for (const scenario of ["full-android", "full-ios"] as const) {
  await medianMsOf(50, () => sampleEvent({ scenario }));
  print(
    `| 19 probes, ${scenario}, native answering at once | ${(await medianMsOf(300, () => sampleEvent({ scenario }))).toFixed(2)} | ≤ 1 |`,
  );
}
const [mapsOf2MiB, mapsOf4MiB] = [makeMaps(2 * 1_024 * 1_024), makeMaps(4 * 1_024 * 1_024)];
await medianMsOf(10, () => judgeMaps(mapsOf4MiB));
print(`| 2 MiB of maps classified | ${(await medianMsOf(30, () => judgeMaps(mapsOf2MiB))).toFixed(1)} | |`);
print(`| 4 MiB of maps classified | ${(await medianMsOf(30, () => judgeMaps(mapsOf4MiB))).toFixed(1)} | ≤ 20 |`);
