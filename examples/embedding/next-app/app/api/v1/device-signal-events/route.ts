/** The endpoint as a route handler of a Next backend. */
import { webHandler } from "@device-risk-signals/server/web";
import { host } from "../../../../../src/host.ts";

type Handler = (request: Request) => Promise<Response>;

async function open(): Promise<Handler> {
  // Node must load the package, because the package reads its migrations from files next to its code, and a bundle
  // would separate the code from these files.
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

  // The address that the proxy in front of Next has added. Without a proxy, Next adds the client's address.
  const peerOf = ({ headers }: Request): string =>
    headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() ?? "unknown";
  return webHandler(endpoint.ingest, { peerOf });
}

/**
 * The first request opens the endpoint. The module itself does not, because `next build` loads the module, too. After
 * a failure the next request tries again.
 */
let opening: Promise<Handler> | undefined;

const handle: Handler = async (request) => {
  opening ??= open();
  opening.catch(() => (opening = undefined));
  return (await opening)(request);
};

/** The route exports every method, so that the endpoint itself answers a request with a wrong method. */
export {
  handle as DELETE,
  handle as GET,
  handle as HEAD,
  handle as OPTIONS,
  handle as PATCH,
  handle as POST,
  handle as PUT,
};
