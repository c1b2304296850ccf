import { buildFeatures, type BuiltFeatures } from "../compile/build-features.ts";
import { readOverlay } from "../compile/overlay.ts";

/** Builds the definitions below a folder, with the fields of its overlay. */
export async function buildFolder(folder: string): Promise<BuiltFeatures> {
  const read = readOverlay(folder);
  return read.ok ? buildFeatures(folder, read.overlay) : { features: [], problems: read.problems };
}
