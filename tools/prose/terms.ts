/** A group of words that texts avoid, with their replacement. */
export interface Term {
  readonly avoid: readonly string[];
  readonly write: string;
}

/** The words that the project's texts avoid. A space in a phrase matches any white space, including a line break. */
export const TERMS: readonly Term[] = [
  { avoid: ["let go of", "lets go of", "letting go of", "bury", "buried"], write: "delete, drop, destroy" },
  { avoid: ["gone", "goes", "went"], write: "deleted, missing, lost; is written, is sent" },
  { avoid: ["past its period", "past their period"], write: "expired" },
  { avoid: ["stands", "that stand", "which stand", "stood"], write: "is, exists, is active" },
  { avoid: ["in force"], write: "active, applied" },
  { avoid: ["whoever", "whatever", "whosoever"], write: "the caller, a named role, any" },
  { avoid: ["nobody", "those that", "those who"], write: "no client, no user, a named role" },
  { avoid: ["anew"], write: "again" },
  { avoid: ["beside", "besides"], write: "next to, in addition to" },
  { avoid: ["told", "is handed", "are handed"], write: "reported, receives" },
  { avoid: ["keep to", "keeps to", "kept to"], write: "respects, follows" },
  { avoid: ["carry out", "carries out", "carried out"], write: "apply, execute" },
  { avoid: ["catch up", "catches up", "caught up"], write: "replay" },
  { avoid: ["no room", "is room", "has room"], write: "disk full, capacity" },
  { avoid: ["fault", "faults"], write: "error" },
  { avoid: ["refusal", "refusals"], write: "rejection" },
  { avoid: ["remark", "remarks"], write: "warning" },
  { avoid: ["lies", "lie in", "lie on", "lie under", "lie outside", "lay in"], write: "is, is stored" },
  { avoid: ["begun", "at need", "for good"], write: "started, on demand, permanently" },
  { avoid: ["upon", "whence", "hence", "thereof", "whilst", "lest", "thither"], write: "a plain word" },
  {
    avoid: ["complete the erasure", "completes the erasure", "completes an erasure", "completed erasure"],
    write: "finish (an erasure)",
  },
  { avoid: ["settle", "settles", "settled"], write: "resolve" },
];
