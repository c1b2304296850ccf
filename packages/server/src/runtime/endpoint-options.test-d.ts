import type { Settings } from "../base/config/options.ts";
import type { Path, SettingValues } from "../base/config/settings.ts";
import type { ActionRegistry, SessionVerifier } from "../base/ports.ts";
import { type EndpointOptions, optionsFromEnvironment } from "./endpoint-options.ts";

declare const sessions: SessionVerifier;
declare const actions: ActionRegistry;
declare const key: Buffer;
declare const url: string | undefined;
declare function open(options: EndpointOptions): void;

const JWT = { issuer: "https://id.example", audience: "app" };

export const accepted = [
  open({}),
  open({ ...optionsFromEnvironment({}), sessions, actions, adoptedFields: [["fonts", "fontsDigest"]] }),
  open({ database: { url: "postgresql://db/events", pool: 4 }, keys: { directory: "/keys", encryptionKey: key } }),
  open({ keys: { encryptionKeyCommand: ["pass", "show", "drs"] } }),
  open({ sessions: { jwt: { jwksUrl: "https://id.example/jwks", ...JWT } } }),
  open({ sessions: { introspection: { url: "https://id.example/introspect" } }, sessionBinding: "enforce" }),
  open({ actions: { signingSecret: "x" }, onError: (error, operation) => void [error, operation] }),
];

export const rejected = [
  // @ts-expect-error a number is no text
  open({ throttle: { burst: "5" } }),
  // @ts-expect-error a duration is a number of milliseconds
  open({ limits: { maxAgeMs: "24h" } }),
  // @ts-expect-error there is no such member
  open({ throttle: { rate: 5 } }),
  // @ts-expect-error there is no such group
  open({ throtle: {} }),
  // @ts-expect-error the value of a variable that is not set (undefined) does not select the default
  open({ database: { url } }),
  // @ts-expect-error one of three words
  open({ sessionBinding: "always" }),
  // @ts-expect-error a key is bytes, not base64
  open({ keys: { encryptionKey: key.toString("base64") } }),
  // @ts-expect-error only the service has listeners
  open({ service: { port: 8080 } }),
  // @ts-expect-error one key store
  open({ keys: { directory: "/keys", databaseUrl: "postgresql://keys/keys" } }),
  // @ts-expect-error one source of the key-encryption key
  open({ keys: { encryptionKeyCommand: ["pass", "show", "drs"], encryptionKey: key } }),
  // @ts-expect-error one journal
  open({ journal: { directory: "/journal", databaseUrl: "postgresql://journal/journal" } }),
  // @ts-expect-error one way to verify tokens
  open({ sessions: { jwt: { secret: "x", ...JWT }, introspection: { url: "https://id.example" } } }),
  // @ts-expect-error public keys or a secret
  open({ sessions: { jwt: { jwksUrl: "https://id.example/jwks", secret: "x", ...JWT } } }),
  // @ts-expect-error tokens of any audience
  open({ sessions: { jwt: { secret: "x", issuer: "https://id.example" } } }),
  // @ts-expect-error a verifier is an object
  open({ sessions: async () => undefined }),
];

type Member<Group, P> = P extends `${infer Head}.${infer Rest}`
  ? Member<NonNullable<Group[Head & keyof Group]>, Rest>
  : NonNullable<Group[P & keyof Group]>;
type Same<A, B> = [A, B] extends [B, A] ? true : false;
type Input<T> = T extends Buffer ? Uint8Array : T;
type Option = Exclude<Path, `service.${string}`>;

type OptionOfAnotherType = {
  [P in Option]: Same<Member<Settings, P>, Input<NonNullable<SettingValues[P]>>> extends true ? never : P;
}[Option];

/** Each member of the generated interface has the type that its setting declares. */
export const optionOfAnotherType: [OptionOfAnotherType] extends [never] ? "none" : OptionOfAnotherType = "none";
