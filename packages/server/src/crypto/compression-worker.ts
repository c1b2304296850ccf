/** The thread of `compression-thread.ts`. */
import { parentPort, workerData } from "node:worker_threads";
import { Compressor } from "./compression.ts";
import { CompressingSlots } from "./compression-slots.ts";

const compressor = new Compressor();

new CompressingSlots(workerData as SharedArrayBuffer).work(
  (bytes) => compressor.compressAtOnce(bytes),
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  () => parentPort?.postMessage("compressed"),
);
