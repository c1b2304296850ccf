/** What the audit counts of a key, in words. */
const OUTCOMES: Readonly<Record<string, readonly [name: string, meaning: string]>> = {
  accepted: ["Created", "Stored. The client got 201."],
  replayed: ["Replayed", "The same request again. The client got 200 and the id of the stored event."],
  "idempotency-conflict": ["In conflict", "Another payload with the same key. Nothing was stored; the client got 409."],
  "session-mismatch": ["Warning", "Stored, although the session is not the one that the action was issued with."],
  "beyond-purpose": ["Warning", "Stored, although it has more than its purpose covers."],
  unmapped: ["Warning", "Stored, although the policy names no purpose for its action type."],
};

export const wordsOfOutcome = (outcome: string): readonly [name: string, meaning: string] =>
  OUTCOMES[outcome] ?? [outcome, ""];
