import type { FetchFunction } from "./fetch-function.ts";
import { platformRandomBytes, type RandomBytes } from "./idempotency-key.ts";
import { functionProblems, problemsOfWholeNumbers, throwMisuse, textProblem, withDefaults } from "./misuse.ts";

/**
 * Returns the session token of the app, if possible from memory. `refresh` is true if the server has just rejected the
 * previous token; then the function must get a new one. `null`, `undefined` or `""` means that no user is signed in. A
 * rejected promise means that no token is available at the moment.
 */
export type TokenFunction = (options: { readonly refresh: boolean }) => Promise<string | null | undefined>;

export interface ClientOptions {
  /** The part before `/api/v1/device-signal-events`: scheme, host, and a path if there is one. */
  readonly baseUrl: string;
  readonly fetch: FetchFunction;
  readonly token: TokenFunction;
  /** The version of the SDK that collects the events, 1 to 32 characters. */
  readonly sdkVersion: string;
  readonly platform: "android" | "ios";
  /** The app's version, at most 64 characters. */
  readonly appVersion?: string | undefined;
  /** Makes random bytes. Needed where `crypto.getRandomValues` is absent, as it is in Hermes. */
  readonly randomBytes?: RandomBytes | undefined;
  /** How long the server accepts an event after its `collected_at`. Default 24 hours, as on the server. */
  readonly freshnessMs?: number | undefined;
  /** Time limit of one attempt: token, request and answer together. Default 15 s. */
  readonly timeoutMs?: number | undefined;
  /**
   * Maximum number of attempts in one `send`. Default 5. The repetition of an attempt with a refreshed token is not
   * counted.
   */
  readonly maxAttempts?: number | undefined;
  /**
   * The maximum length of the first pause. This maximum doubles with each further pause, up to `maxDelayMs`. Default 1
   * s.
   */
  readonly baseDelayMs?: number | undefined;
  /** The maximum length of each pause, and the longest `Retry-After` for which a `send` waits. Default 60 s. */
  readonly maxDelayMs?: number | undefined;
}

export type ClientSettings = { readonly [Name in keyof ClientOptions]-?: NonNullable<ClientOptions[Name]> } & {
  readonly url: string;
};

const PATH = "/api/v1/device-signal-events";
const PATH_AT_END = RegExp(`${PATH}/*$`, "i");
const DAY_MS = 86_400_000;

/** @throws TypeError naming every problem. */
export function readClientOptions(options: ClientOptions): ClientSettings {
  const settings = withDefaults(options, {
    appVersion: "",
    randomBytes: platformRandomBytes(),
    freshnessMs: DAY_MS,
    timeoutMs: 15_000,
    maxAttempts: 5,
    baseDelayMs: 1_000,
    maxDelayMs: 60_000,
  });
  const { baseUrl, sdkVersion, platform, appVersion } = settings;
  throwMisuse("createSignalClient", [
    !/^https?:\/\/[^\s?#@]+$/i.test(baseUrl) && "baseUrl must be an http(s) URL",
    PATH_AT_END.test(baseUrl) && `baseUrl must not end in ${PATH}, which the client adds`,
    ...functionProblems(settings, ["fetch", "token", "randomBytes"]),
    textProblem("sdkVersion", sdkVersion, 32),
    platform !== "android" && platform !== "ios" && "platform must be android or ios",
    textProblem("appVersion", appVersion, 64, 0),
    ...problemsOfWholeNumbers(settings, ["freshnessMs", "timeoutMs", "maxAttempts", "baseDelayMs", "maxDelayMs"]),
  ]);
  return { ...(settings as Omit<ClientSettings, "url">), url: baseUrl.replace(/\/+$/, "") + PATH };
}
