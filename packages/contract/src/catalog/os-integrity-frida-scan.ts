import { boolean, number, type Probe } from "./declare.ts";
import { DIAGNOSTICS } from "./disclosure.ts";

export const osIntegrityFridaScan: Probe = {
  id: "os_integrity_frida_scan",
  title: "OS integrity: Frida scan",
  meaning: "Whether a Frida server answers on loopback. Off by default: it opens sockets on the device itself.",
  platforms: ["android"],
  enabledByDefault: false,
  disclosure: DIAGNOSTICS,
  performed: { field: "scanPerformed" },
  fields: {
    scanPerformed: boolean("The scan was run; false means that it was not, and then no other field is present.", {
      required: true,
    }),
    scannedPort: number("port", "The loopback port that was tried.", { on: "android" }),
    defaultPortOpen: boolean(
      "The port accepted a connection; false means that it did not. Any program may listen there, not only Frida.",
      {
        on: "android",
        sensitivity: "medium",
        permission: { android: "INTERNET" },
      },
    ),
    fridaHandshakeReject: boolean(
      "The listener rejected the handshake as a Frida server does; false means it did not.",
      {
        on: "android",
        sensitivity: "medium",
        permission: { android: "INTERNET" },
      },
    ),
  },
};
