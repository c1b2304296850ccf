/** An inclusion proof (C2SP `tlog-proof`): an index, the hashes, and the checkpoint that they lead to. */
export interface InclusionProof {
  readonly index: number;
  readonly hashes: readonly Buffer[];
  /** The text of the checkpoint. */
  readonly checkpoint: string;
}

const FORMAT = "c2sp.org/tlog-proof@v1";

export function formatProof({ index, hashes, checkpoint }: InclusionProof): string {
  const lines = [FORMAT, `index ${index}`, ...hashes.map((hash) => hash.toString("base64"))];
  return `${lines.join("\n")}\n\n${checkpoint}`;
}
