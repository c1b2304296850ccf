/** The body of a request of `node:http` or HTTP/2 as a stream of bytes, in a server that may have other readers. */
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { HostMisuse } from "../base/errors/host-misuse.ts";
import type { ByteStream } from "../ingest/request.ts";

export interface NodeBodyOptions {
  /** Whether no other code, such as a listener of an embedding host, reads the body. */
  readonly isUnshared?: boolean;
  /** What a host reads in place of the request, such as a stream that decompresses it. */
  readonly replacement?: Readable | undefined;
  /** Called before the first byte of the body is read, for `Expect: 100-continue`. */
  readonly invite?: (() => void) | undefined;
}

/**
 * Takes over the body. Listeners of a host that were added before get each byte at the same time as the endpoint. To
 * lose no byte to them, call this function as soon as the host passes the request on.
 */
export function bodyOf(
  request: IncomingMessage,
  { isUnshared = false, replacement, invite }: NodeBodyOptions,
): ByteStream {
  const source: Readable = replacement ?? request;
  if (!isUnshared) source.pause();
  return {
    isUnshared,
    isReplaced: source !== request,
    forEach: (take) =>
      new Promise((resolve, reject) => {
        const stop = (): void => {
          source.off("data", onData).off("pause", onPause);
          source.off("end", onEnd).off("close", onClose).off("error", onError);
        };
        const finish = (end: "end" | "stopped" | "broken"): void => {
          stop();
          resolve(end);
        };
        const fail = (error: HostMisuse): void => {
          stop();
          reject(error);
        };
        const onData = (chunk: unknown): void => {
          if (!(chunk instanceof Uint8Array)) return fail(decoded());
          if (take(chunk)) return;
          finish("stopped");
          source.pause();
        };
        // A listener of the host that waits for its own consumer would delay the event until the client gives up.
        const onPause = (): void => void source.resume();
        const onEnd = (): void => finish("end");
        const onClose = (): void => finish("broken");
        const onError = (error: Error): void =>
          source === request || isOfClient(error, request) ? finish("broken") : fail(failed(error));
        if (source.readableEnded && !source.readableDidRead) return finish("end");
        const misuse = misuseOf(source);
        if (misuse) return fail(misuse);
        if (source.errored) return onError(source.errored);
        if (source.destroyed) return finish("broken");
        source.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onError);
        if (!isUnshared) source.on("pause", onPause).resume();
        invite?.();
      }),
  };
}

function misuseOf(source: Readable): HostMisuse | undefined {
  if (source.readableDidRead) {
    return new HostMisuse(
      "A middleware has read the body of the request. Mount the endpoint before body parsers and other readers.",
    );
  }
  if (source.readableEncoding !== null || source.readableObjectMode) return decoded();
  if (source.listenerCount("readable") === 0) return undefined;
  return new HostMisuse(
    'A middleware listens to "readable" of the request, which stops other readers. Mount the endpoint before it.',
  );
}

const decoded = (): HostMisuse =>
  new HostMisuse(
    "A middleware has called setEncoding, or passes a stream of texts or objects: the exact bytes of the body are lost. " +
      "Mount the endpoint before it.",
  );

const failed = (cause: Error): HostMisuse =>
  new HostMisuse("The stream that a hook of the host passes in place of the request has failed.", { cause });

/** Whether the client is the cause: it has disconnected, or what it sent can't be decompressed. */
function isOfClient(
  error: NodeJS.ErrnoException & { readonly statusCode?: number },
  request: IncomingMessage,
): boolean {
  const isRejection = error.statusCode !== undefined && error.statusCode < 500;
  return !request.complete || isRejection || error.code?.startsWith("Z_") === true;
}
