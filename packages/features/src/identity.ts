import { createHash } from "node:crypto";
import { canonicalize } from "@device-risk-signals/contract";
import type { Bundle, Manifest, Output } from "./manifest.ts";

/** The part of an output that decides which values it can have. The bins only group these values. */
function typeOf(output: Output): unknown {
  switch (output.type) {
    case "number":
      return { type: output.type, unit: output.unit };
    case "category":
      return { type: output.type, values: output.values };
    default:
      return { type: output.type };
  }
}

/**
 * The hash of what decides the values of a feature: its program, how its inputs are read, and the type of its output.
 * Meaning, owner, purposes, sensitivity and bins may change without a new version.
 */
export function identityHash(text: string, { inputs, output }: Pick<Manifest, "inputs" | "output">): string {
  const inputsWithoutSensitivity = inputs.map((input) =>
    Object.fromEntries(Object.entries(input).filter(([member]) => member !== "sensitivity")),
  );
  const identity = canonicalize({ text, inputs: inputsWithoutSensitivity, output: typeOf(output) });
  return createHash("sha256").update(identity).digest("hex");
}

/** Whether the program and the manifest of a bundle match the bundle's id, version and hash. */
export function isIntact({ id, version, hash, text, manifest }: Bundle): boolean {
  return (
    manifest.id === id &&
    manifest.version === version &&
    manifest.hash === hash &&
    identityHash(text, manifest) === hash
  );
}
