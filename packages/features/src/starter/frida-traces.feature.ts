import { count, countTrue, feature, field } from "@device-risk-signals/features";

export const fridaTraces = feature({
  id: "frida_traces",
  version: 1,
  owner: "fraud team",
  meaning: "How many kinds of traces of Frida were seen, of the kinds that were looked for",
  falseReadings: [
    "Another program may listen on the port of Frida",
    "A Frida gadget with another name leaves none of these traces",
  ],
  purposes: ["payments"],
  inputs: {
    pipe: field("os_integrity.fridaInjectorPipeFound"),
    listener: field("os_integrity.fridaListenerPortFound"),
    handshake: field("os_integrity_frida_scan.fridaHandshakeReject"),
  },
  output: count({ bins: [0, 1, 2] }),
  compute: (inputs) => countTrue(inputs),
  fixtures: "./frida-traces.fixtures.json",
});
