/** The console as a person has it: a server on the embedded database, real events, and Chromium. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { authorized, send, transport } from "../../../e2e/support/client.ts";
import { runAsGiven } from "../../../e2e/support/command.ts";
import { type Home, makeEmptyHome, makeHome } from "../../../e2e/support/embedded.ts";
import { freePort } from "../../../e2e/support/free-port.ts";
import { issueCredentials, type ServerProcess, startServer } from "../../../e2e/support/server.ts";
import { type Scenario, sampleEvent } from "../../../packages/react-native/src/jest/mock.ts";
import { hasChromium, launchChromium } from "../chromium.ts";

export { hasChromium };

type Probes = Readonly<Record<string, unknown>>;

export interface ConsoleScene {
  readonly url: string;
  /** Where the endpoint is. */
  readonly endpoint: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Messages of pages since the last call: errors of scripts, and violations of the Content-Security-Policy. */
  takeMessages(): readonly string[];
  context(options?: Parameters<Browser["newContext"]>[0]): Promise<BrowserContext>;
  /** A page that an own link signed in. */
  signIn(person: string, roles?: readonly string[], context?: BrowserContext): Promise<Page>;
  /** A link of `drs console link`. */
  link(person: string, roles?: readonly string[]): Promise<string>;
  /** Stores an event of an account by the endpoint. @returns its id. */
  store(account: string, probes: Probes | Scenario): Promise<string>;
  /** Sends a request that the endpoint rejects. @returns its status. */
  post(account: string, changes: { readonly observations: object }): Promise<number>;
  drs(...args: readonly string[]): Promise<string>;
  restart(): Promise<void>;
}

interface SceneOptions {
  /** Whether the installation has the data of `drs demo`. */
  readonly isDemo?: boolean;
  /** Settings of the server, in addition to what every test has. */
  readonly settings?: Readonly<Record<string, string>>;
}

export function useConsole({ isDemo = false, settings = {} }: SceneOptions = {}): ConsoleScene {
  let home: Home;
  let server: ServerProcess;
  let browser: Browser;
  let environment: Record<string, string>;
  const messages: string[] = [];
  const contexts: BrowserContext[] = [];

  beforeAll(async () => {
    if (!hasChromium) return;
    home = await (isDemo ? makeEmptyHome() : makeHome());
    environment = {
      ...home.environment,
      DRS_ADMIN_PORT: String(await freePort()),
      DRS_THROTTLE_BURST: "1000",
      ...settings,
    };
    if (isDemo) await drs("demo", "--yes");
    server = await startServer(environment);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await home?.remove();
  });

  const drs = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runAsGiven(environment, ...args);
    if (code !== 0) throw new Error(stderr);
    return stdout;
  };
  const link = async (person: string, roles: readonly string[] = []): Promise<string> => {
    const given = roles.length > 0 ? ["--role", ...roles] : [];
    return (await drs("console", "link", "--person", person, ...given)).split("\n")[0] ?? "";
  };
  const context: ConsoleScene["context"] = async (options) => {
    const opened = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    contexts.push(opened);
    opened.on("console", (message) => void (message.type() === "error" && messages.push(message.text())));
    opened.on("weberror", (error) => void messages.push(String(error.error())));
    return opened;
  };
  return {
    get url() {
      return server.adminUrl;
    },
    get endpoint() {
      return server.url;
    },
    get environment() {
      return environment;
    },
    takeMessages: () => messages.splice(0),
    context,
    link,
    async signIn(person, roles, given) {
      const page = await (given ?? (await context())).newPage();
      await page.goto(await link(person, roles));
      await page.getByRole("navigation", { name: "Screens" }).waitFor();
      return page;
    },
    async store(account, probes) {
      const who = await issueCredentials(environment, account);
      const request = transport(who);
      if (typeof probes === "string") {
        request.observations = { ...(await sampleEvent({ scenario: probes })), session_id: who.sessionId };
        request.platform = probes.endsWith("ios") ? "ios" : "android";
      } else request.observations["probes"] = probes;
      const { status, json, text } = await send({
        url: server.url,
        headers: authorized(who),
        // Digits that JSON.stringify would lose.
        body: JSON.stringify(request).replace(/"(\d{17})"/, "$1"),
      });
      expect(status, text).toBe(201);
      return String(json["event_id"]);
    },
    async post(account, { observations }) {
      const who = await issueCredentials(environment, account);
      const request = transport(who);
      Object.assign(request.observations, observations);
      return (await send({ url: server.url, headers: authorized(who), body: JSON.stringify(request) })).status;
    },
    drs,
    async restart() {
      await server.stop();
      server = await startServer(environment);
    },
  };
}
