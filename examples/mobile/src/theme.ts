import { Platform, useColorScheme } from "react-native";

/** The tone of a word or a badge. It is never shown only by colour. */
export type Tone = "good" | "neutral" | "late" | "bad";

export interface Palette {
  readonly page: string;
  readonly card: string;
  readonly line: string;
  readonly text: string;
  readonly muted: string;
  readonly accent: string;
  readonly onAccent: string;
  readonly tones: Readonly<Record<Tone, { readonly ink: string; readonly tint: string }>>;
}

/** Every text has a contrast of at least 4.5 on its background. */
export const LIGHT: Palette = {
  page: "#f4f5f8",
  card: "#ffffff",
  line: "#dfe3ea",
  text: "#151a21",
  muted: "#566070",
  accent: "#1d56c9",
  onAccent: "#ffffff",
  tones: {
    good: { ink: "#12663a", tint: "#e2f3e9" },
    neutral: { ink: "#4d5666", tint: "#eceff3" },
    late: { ink: "#7d4b00", tint: "#fbeed8" },
    bad: { ink: "#a3241c", tint: "#fbe6e4" },
  },
};

export const DARK: Palette = {
  page: "#0e1116",
  card: "#171b22",
  line: "#2b313b",
  text: "#eceff4",
  muted: "#9ea9b9",
  accent: "#82b1ff",
  onAccent: "#0a1a33",
  tones: {
    good: { ink: "#84dba8", tint: "#163325" },
    neutral: { ink: "#b3bdcb", tint: "#262c36" },
    late: { ink: "#f0bd6b", tint: "#3a2b10" },
    bad: { ink: "#ffb0a8", tint: "#431d1a" },
  },
};

export const MONOSPACE = Platform.select({ ios: "Menlo", default: "monospace" });

/** The palette that the device prefers. */
export function usePalette(): Palette {
  return useColorScheme() === "dark" ? DARK : LIGHT;
}
