import { NOTHING_ADOPTED } from "@device-risk-signals/contract/catalog/adopted";
import { expect, test } from "vitest";
import type { ReadAdoptedFields } from "./adopted-fields.ts";
import { AdoptedFieldsFile } from "./adopted-fields-file.ts";

const never = (): Promise<never> => new Promise(() => {});

test("a file system that hangs ends the start with an error message", async () => {
  const opening = AdoptedFieldsFile.open("/adopted.json", never, 20);
  await expect(opening).rejects.toThrow(
    "DRS_ADOPTED_FIELDS_FILE: /adopted.json can't be read (no answer within 20 ms)",
  );
});

test("a read that hangs after the start is reported once, and the previous fields stay active until it answers", async () => {
  const adopted = { ...NOTHING_ADOPTED, paths: [["os_integrity", "isEmulator"]] };
  const hanging = Promise.withResolvers<ReadAdoptedFields>();
  const answers = [Promise.resolve<ReadAdoptedFields>({ ok: true, adopted: NOTHING_ADOPTED }), hanging.promise];
  let reads = 0;
  const file = await AdoptedFieldsFile.open("/adopted.json", () => answers[reads++] ?? hanging.promise, 20);
  const invalid: string[] = [];
  const looks: boolean[] = [];
  file.follow({ onInvalid: ({ message }) => invalid.push(message), onLook: (_, valid) => looks.push(valid) });
  await expect.poll(() => looks.filter((valid) => !valid).length, { timeout: 5_000 }).toBe(2);
  expect(reads).toBe(2);
  expect(invalid).toEqual([expect.stringMatching(/no answer within 20 ms\); the 0 fields adopted before stay/)]);
  hanging.resolve({ ok: true, adopted });
  await expect.poll(() => file.current).toBe(adopted);
  await file.close();
});
