import { globSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { identityHash } from "../identity.ts";
import type { Bundle } from "../manifest.ts";
import { bundleProgram, type Program } from "./bundle-program.ts";
import { NO_OVERLAY, type Overlay } from "./known-fields.ts";
import { lintProgram } from "./lint-program.ts";
import { type Declared, readDefinition } from "./read-definition.ts";

export interface BuiltFeature {
  readonly bundle: Bundle;
  /** The file of the definition, relative to the folder. */
  readonly file: string;
  /** The path of the definition's fixtures file. */
  readonly fixtures: string;
}

export interface BuiltFeatures {
  /** The features, sorted by id, then by version. */
  readonly features: readonly BuiltFeature[];
  /** What is wrong with the definitions. Each problem names its file and, if known, the line. */
  readonly problems: readonly string[];
}

/** Includes `.js`, because the starter features of the published package are JavaScript. */
const DEFINITIONS = "**/*.feature.{ts,js}";

/** Builds the definitions below a folder: each file whose name ends in `.feature.ts` or `.feature.js`. */
export async function buildFeatures(folder: string, overlay: Overlay = NO_OVERLAY): Promise<BuiltFeatures> {
  const files = globSync(DEFINITIONS, { cwd: folder, exclude: (name) => name === "node_modules" }).sort();
  const features: BuiltFeature[] = [];
  const problems: string[] = [];
  for (const file of files) {
    const built = await buildFeature(folder, file, overlay);
    if (built.ok) features.push(built.feature);
    else problems.push(...built.problems);
  }
  if (files.length === 0) problems.push(`${folder} has no file that ends in .feature.ts, or does not exist`);
  features.sort(({ bundle: one }, { bundle: other }) =>
    one.id === other.id ? one.version - other.version : one.id < other.id ? -1 : 1,
  );
  return { features, problems: [...problems, ...duplicates(features)] };
}

type Built =
  | { readonly ok: true; readonly feature: BuiltFeature }
  | { readonly ok: false; readonly problems: readonly string[] };

async function buildFeature(folder: string, file: string, overlay: Overlay): Promise<Built> {
  const path = resolve(folder, file);
  const inFile = (problems: readonly string[]): Built => ({
    ok: false,
    problems: problems.map((problem) => `${file}: ${problem}`),
  });
  const whole = await bundleProgram(path, "definition");
  if (!whole.ok) return inFile(whole.problems);
  const read = readDefinition(whole.program.text, overlay);
  if (!read.ok) return inFile(read.problems);
  const compute = await bundleProgram(path, "compute");
  if (!compute.ok) return inFile(compute.problems);
  const findings = lintProgram(compute.program).map(
    ({ origin, message }) => `${origin ? `${relative(folder, origin.file)}:${origin.line}` : file}: ${message}`,
  );
  if (findings.length > 0) return { ok: false, problems: [...new Set(findings)] };
  const fixtures = resolve(dirname(path), read.fixtures);
  return { ok: true, feature: { bundle: bundleOf(compute.program, read.declared), file, fixtures } };
}

function bundleOf({ text }: Program, declared: Declared): Bundle {
  const hash = identityHash(text, declared);
  const { id, version } = declared;
  return { id, version, hash, text, manifest: { ...declared, hash } };
}

function duplicates(features: readonly BuiltFeature[]): string[] {
  return features.flatMap(({ bundle: { id, version }, file }, at) => {
    const previous = features[at - 1];
    const isSame = previous?.bundle.id === id && previous.bundle.version === version;
    return isSame ? [`${file}: ${previous.file} has version ${version} of ${id}, too`] : [];
  });
}
