/** The thread of `sealing-thread.ts`. */
import { createSecretKey } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { encrypt } from "./authenticated-encryption.ts";
import { Compressor } from "./compression.ts";
import { SealingSlots } from "./sealing-slots.ts";

const compressor = new Compressor();

new SealingSlots(workerData as SharedArrayBuffer).work(
  ({ key, associatedData, bytes }) => {
    const compressed = compressor.compressAtOnce(bytes);
    return encrypt(createSecretKey(key), compressed.dictionary, associatedData, compressed.bytes);
  },
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  () => parentPort?.postMessage("sealed"),
);
