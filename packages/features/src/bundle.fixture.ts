import { identityHash } from "./identity.ts";
import type { Bundle, Manifest } from "./manifest.ts";

/** A definition that runs a statement when QuickJS loads it. The engines differ in the messages of their errors. */
export const onlyInQuickJs = (statement: string): string =>
  `(() => { try { null.x; } catch ({ message }) { if (!message.startsWith("C")) ${statement}; } return () => true; })()`;

/** Makes a bundle without the bundler. @param compute the text of a function */
export function bundleOf(compute: string, rest: Partial<Manifest> = {}): Bundle {
  const text = `"use strict";var feature=(${compute});`;
  const inputs = rest.inputs ?? [
    { name: "su", path: ["os_integrity", "suBinaryFound"], type: "boolean", sensitivity: "medium" },
  ];
  const output = rest.output ?? { type: "flag" };
  const hash = identityHash(text, { inputs, output });
  const { id = "example", version = 1 } = rest;
  const texts = {
    owner: "fraud team",
    meaning: "An example",
    falseReadings: ["none is known"],
    purposes: ["payments"],
  };
  return { id, version, hash, text, manifest: { ...texts, ...rest, id, version, hash, inputs, output } };
}
