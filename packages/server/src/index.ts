/**
 * The endpoint for a host that embeds it.
 *
 * ```ts
 * const endpoint = await openEndpoint({ environment: process.env, sessions: myAuthentication });
 * app.all("/api/v1/device-signal-events", nodeHandler(endpoint.ingest));
 * ```
 */
import { readConfig, type Environment } from "./config/config.ts";
import { createEndpoint, type Endpoint, type EndpointPorts } from "./app/endpoint.ts";
import { guarded } from "./app/guarded.ts";
import { openSystem } from "./app/system.ts";

export type { OperatorErrorCode } from "./errors/codes.ts";
export { OperatorError } from "./errors/operator-error.ts";
export { signActionId, type SignedAction } from "./actions/signed-actions.ts";
export type { Ingest } from "./ingest/ingest.ts";
export type { Answer, ByteStream, IngestRequest, RequestHeaders } from "./ingest/request.ts";
export type { Endpoint } from "./app/endpoint.ts";
export {
  type ActionRegistry,
  type OnError,
  type RegisteredAction,
  type Session,
  type SessionVerifier,
  Unavailable,
} from "./ports.ts";

export interface OpenEndpointOptions extends Partial<EndpointPorts> {
  /** The variables of the standalone service; those of listeners and TLS have no effect here. */
  readonly environment: Environment;
  /** Where relative paths start; the working directory by default. */
  readonly directory?: string;
}

/**
 * Opens database and keys and returns an ingest core for `nodeHandler`, `webHandler`, the Fastify plugin, or an edge of
 * the host's own.
 * @throws TypeError that names every problem of the configuration, or an OperatorError.
 */
export async function openEndpoint(options: OpenEndpointOptions): Promise<Endpoint> {
  const { environment, directory = process.cwd(), ...ports } = options;
  const onError = guarded(options.onError ?? (() => {}));
  const result = readConfig(environment, directory);
  if (!result.ok) throw new TypeError(`the configuration is not valid: ${result.problems.join("; ")}`);
  const system = await openSystem(result.config, { asServer: true, onError });
  const endpoint = await createEndpoint(system, { ...ports, onError }).catch(async (error: unknown) => {
    await system.close();
    throw error;
  });
  const close = async (): Promise<void> => {
    await endpoint.close();
    await system.close();
  };
  // A host's signal handler and its framework's may both call it.
  let closing: Promise<void> | undefined;
  return { ...endpoint, close: () => (closing ??= close()) };
}
