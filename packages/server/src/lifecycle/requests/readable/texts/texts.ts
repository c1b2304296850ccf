import type { ExportLanguage } from "@device-risk-signals/admin-api";
import { DE } from "./de.ts";
import { EN, type Texts } from "./en.ts";

/** To add a language, add its file, and its code to `EXPORT_LANGUAGES` of the admin API. */
export const TEXTS: Readonly<Record<ExportLanguage, Texts>> = { en: EN, de: DE };

/** Puts values into the places of a text. */
export const fill = (text: string, values: Readonly<Record<string, string | number | undefined>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));
