/** What must not compile in a definition. */
import { category, count, feature, field, flag } from "../index.ts";

// @ts-expect-error A path that the catalog does not have.
field("os_integrity.suBinaryFond");
// @ts-expect-error An object is no field: its members are.
field("device_identity.androidBuild");
field("device_identity.androidBuild.sdkInt");

const texts = {
  id: "x",
  version: 1,
  owner: "fraud team",
  meaning: "x",
  falseReadings: [],
  purposes: ["payments"],
  fixtures: "./x.fixtures.json",
};

feature({
  ...texts,
  inputs: { su: field("os_integrity.suBinaryFound"), proxy: field("network.proxyHost") },
  output: flag(),
  compute: ({ su, proxy }) => {
    // @ts-expect-error A reading has no value before its state is known.
    void su.value;
    // @ts-expect-error A reading is no text, and has no default.
    const host: string = proxy ?? "";
    // @ts-expect-error A reading is no boolean.
    const found: boolean = su || false;
    void [host, found];
    return su.state === "observed" ? su.value : null;
  },
});

feature({
  ...texts,
  inputs: { su: field("os_integrity.suBinaryFound") },
  output: category(["a", "b"]),
  // @ts-expect-error A category gives one of its values.
  compute: () => "c",
});

feature({
  ...texts,
  inputs: { su: field("os_integrity.suBinaryFound") },
  output: count({ bins: [0] }),
  // @ts-expect-error Only declared inputs exist.
  compute: (inputs) => (inputs.magisk.state === "observed" ? 1 : 0),
});
