import { DARK, LIGHT, type Palette } from "./theme";

/** The contrast of two colours by WCAG 2.2. A text of this size needs 4.5. */
function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

it.each<[string, Palette]>([
  ["light", LIGHT],
  ["dark", DARK],
])("every text of the %s palette can be read", (_, { page, card, text, muted, accent, onAccent, tones }) => {
  const pairs = [
    ...[text, muted, accent].flatMap((ink) => [page, card].map((ground) => [ink, ground] as const)),
    [onAccent, accent] as const,
    ...Object.values(tones).map(({ ink, tint }) => [ink, tint] as const),
  ];
  expect(pairs.filter(([ink, ground]) => contrast(ink, ground) < 4.5)).toEqual([]);
});
