/**
 * The ingestion endpoint, for a host application that embeds it.
 *
 * ```ts
 * const endpoint = await createEndpoint({ ...optionsFromEnvironment(process.env), sessions: myAuthentication });
 * app.all("/api/v1/device-signal-events", nodeHandler(endpoint.ingest));
 * ```
 */
// oxlint-disable-next-line import/no-unassigned-import -- It stops a program on a Node that is too old.
import "./base/node-version.ts";
import { assembleEndpoint, type Endpoint } from "./runtime/endpoint.ts";
import { type EndpointOptions, resolveOptions } from "./runtime/endpoint-options.ts";
import { guarded } from "./runtime/guarded.ts";
import { openSystem } from "./runtime/system.ts";

export type { OperatorErrorCode } from "./base/errors/codes.ts";
export { OperatorError } from "./base/errors/operator-error.ts";
export { signActionId, type SignedAction } from "./ingest/actions/signed-actions.ts";
export type { Ingest } from "./ingest/ingest.ts";
export type { Answer, ByteStream, IngestRequest, RequestHeaders } from "./ingest/request.ts";
export type { Endpoint } from "./runtime/endpoint.ts";
export { type EndpointOptions, optionsFromEnvironment } from "./runtime/endpoint-options.ts";
export type { Settings } from "./base/config/options.ts";
export {
  type ActionRefusal,
  type ActionRegistry,
  type OnError,
  type OnRejected,
  type RegisteredAction,
  type RejectedEvent,
  type RejectionCause,
  type Session,
  type SessionVerifier,
  Unavailable,
} from "./base/ports.ts";

/**
 * Opens the database and the key store. @returns an endpoint whose `ingest` the host gives to `nodeHandler`,
 * `webHandler`, the Fastify plugin, or an edge of its own.
 * @throws TypeError that lists all problems of the options; OperatorError if the endpoint can't start.
 */
export async function createEndpoint(options: EndpointOptions): Promise<Endpoint> {
  const { config, ports } = resolveOptions(options);
  const onError = guarded(ports.onError);
  const system = await openSystem(config, { clock: Date, asServer: true, environment: process.env, onError });
  const endpoint = await assembleEndpoint(system, { ...ports, onError }).catch(async (error: unknown) => {
    await system.close();
    throw error;
  });
  const close = async (): Promise<void> => {
    await endpoint.close();
    await system.close();
  };
  // A host may call `close` twice: in its signal handler and in the shutdown hook of its framework.
  let closing: Promise<void> | undefined;
  return { ...endpoint, close: () => (closing ??= close()) };
}
