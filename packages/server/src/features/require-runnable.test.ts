import { expect, it } from "vitest";
import { bundleOf } from "../../../features/src/bundle.fixture.ts";
import { requireForm, requireLoadable } from "./require-runnable.ts";

it("programs that load slowly are rejected", async () => {
  const bundles = [bundleOf("() => true")];
  await requireLoadable(bundles);
  const rejection = { code: "state-conflict", message: expect.stringContaining("ms of processor time") as string };
  await expect(requireLoadable(bundles, 0)).rejects.toMatchObject(rejection);
});

it.each([null, {}, { inputs: [{ name: "su", path: "os_integrity" }] }])(
  "a manifest of another form is rejected: %j",
  async (manifest) => {
    const bundles = [{ ...bundleOf("() => true"), manifest: manifest as never }];
    await expect(requireForm(bundles)).rejects.toMatchObject({
      code: "input-invalid",
      message: expect.stringContaining("The bundles are not an array") as string,
    });
  },
);
