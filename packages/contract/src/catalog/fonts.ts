import { type Probe, string } from "./declare.ts";
import { DIAGNOSTICS } from "./disclosure.ts";

export const fonts: Probe = {
  id: "fonts",
  title: "Fonts",
  meaning: "A digest of the installed fonts: changes with OS version, maker and added fonts.",
  platforms: ["android", "ios"],
  enabledByDefault: true,
  disclosure: DIAGNOSTICS,
  fields: {
    fontsDigest: string(
      "Digest over the sorted names of the installed fonts; the list itself never leaves the device.",
      {
        sensitivity: "medium",
      },
    ),
  },
};
