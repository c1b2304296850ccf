import type { AccountExport } from "@device-risk-signals/admin-api";
import { escapeControls } from "../../../base/messages/escape-controls.ts";
import type { Texts } from "./texts/en.ts";
import { fill } from "./texts/texts.ts";
import { dateOf } from "./words.ts";

/** The template of the letter: plain text, in which the operator completes what the software can't know. */
export function letter(texts: Texts, { account, export_id, exported_at }: AccountExport, events: number): string {
  const values = {
    account: escapeControls(account),
    export: export_id,
    date: dateOf(texts, new Date(exported_at)),
    events,
  };
  return texts.letter.map((line) => fill(line, values)).join("\n");
}
