/** The endpoint as a route handler of a Next backend. */
import { webHandler } from "@device-risk-signals/server/web";
import { host } from "../../../../../src/host.ts";

type Handler = (request: Request) => Promise<Response>;

async function open(): Promise<Handler> {
  // Node loads the package: it reads its migrations from files next to its code, which a bundle would separate.
  const { createEndpoint, optionsFromEnvironment } = await import(
    /* webpackIgnore: true */ "@device-risk-signals/server"
  );
  const endpoint = await createEndpoint({ ...optionsFromEnvironment(process.env), ...host });
  const shutDown = async (): Promise<void> => {
    await endpoint.drain();
    await endpoint.close();
    process.exit();
  };
  process.once("SIGTERM", () => void shutDown());

  // The address that the proxy in front of Next has added; without a proxy, Next puts the client's there.
  const peerOf = ({ headers }: Request): string =>
    headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() ?? "unknown";
  return webHandler(endpoint.ingest, { peerOf });
}

/** Opened by the first request, because `next build` loads this module too; a failure is tried again by the next one. */
let opening: Promise<Handler> | undefined;

const handle: Handler = async (request) => {
  opening ??= open();
  opening.catch(() => (opening = undefined));
  return (await opening)(request);
};

/** Every method, so that the answer to a wrong one is the endpoint's own. */
export {
  handle as DELETE,
  handle as GET,
  handle as HEAD,
  handle as OPTIONS,
  handle as PATCH,
  handle as POST,
  handle as PUT,
};
