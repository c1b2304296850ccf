import { type Probe, string } from "./declare.ts";
import { DIAGNOSTICS } from "./disclosure.ts";
import { SHA256 } from "./forms.ts";

export const fonts: Probe = {
  id: "fonts",
  title: "Fonts",
  meaning:
    "A digest of the fonts that the system brings: changes with OS version and maker, on iOS also with added fonts.",
  platforms: ["android", "ios"],
  enabledByDefault: true,
  disclosure: DIAGNOSTICS,
  fields: {
    fontsDigest: string(
      "SHA-256 over sorted names, the list itself never leaves the device. Android: names of the files in /system/fonts and /product/fonts, not their content. iOS: PostScript names of all available fonts. Compare within one platform only.",
      {
        sensitivity: "medium",
        form: SHA256,
      },
    ),
  },
};
