/** The device of an event in words. */
import { outcomeOf, probesOf, type Json } from "./walk.ts";

/** Clients choose these texts. */
const MAX_LENGTH = 64;

/**
 * Make, model and operating system, such as "Google Pixel 8, Android 14", as far as the event observed them.
 * @returns `null` if it observed none of them.
 */
export function deviceOf(event: Json): string | null {
  const outcome = outcomeOf(probesOf(event), "device_identity");
  if (outcome?.status !== "success") return null;
  const { manufacturer, model, systemName, systemVersion } = outcome.data;
  const parts = [
    [manufacturer, model],
    [systemName, systemVersion],
  ].map((names) => names.filter(isText).map(cut).join(" "));
  return parts.filter((part) => part !== "").join(", ") || null;
}

const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

const cut = (text: string): string => {
  const characters = Array.from(text.slice(0, 2 * (MAX_LENGTH + 1)));
  return characters.length > MAX_LENGTH ? `${characters.slice(0, MAX_LENGTH).join("")}…` : text;
};
