/** The options of an embedded endpoint, and options that are read from the environment of a process. */
import type { FieldPath } from "@device-risk-signals/contract/catalog/check";
import { pino } from "pino";
import { readAdoptedPaths } from "../ingest/adopted-fields/adopted-fields.ts";
import { checkSettings, type Config, type Environment, readSettings } from "../base/config/config.ts";
import { invalidConfiguration } from "../base/config/config-from-environment.ts";
import { attempt, type OwnMembers, membersOf } from "../base/config/members.ts";
import type { Settings } from "../base/config/options.ts";
import { path, type Result } from "../base/config/values.ts";
import type { ActionRegistry, AdoptedFieldSet, OnError, OnRejected, SessionVerifier } from "../base/ports.ts";
import type { EndpointPorts } from "./endpoint.ts";
import { createErrorLog } from "./error-log.ts";
import { guarded } from "./guarded.ts";

/**
 * A member that is left out has its default. A member with the value `undefined` is an error, because the value may be
 * missing by mistake.
 */
export interface EndpointOptions extends Omit<Settings, "sessions" | "actions"> {
  /** The host's own authentication, or how to verify tokens. By default the endpoint accepts only its own tokens. */
  readonly sessions?: SessionVerifier | NonNullable<Settings["sessions"]>;
  /**
   * The host's own actions, or the secret of signed ones. By default the endpoint accepts only actions of `drs action
   * register`.
   */
  readonly actions?: ActionRegistry | NonNullable<Settings["actions"]>;
  /**
   * The fields that features read, each a path of names such as `["device_identity", "androidBuild", "sdkInt"]`. An
   * event in which one of these fields departs from the published schema is rejected. The option excludes
   * `adoptedFieldsFile`. Default: none.
   */
  readonly adoptedFields?: readonly FieldPath[];
  /**
   * Receives each unexpected error and the name of the failed operation. By default the endpoint writes a line of JSON
   * to standard error, without payloads, tokens and keys.
   */
  readonly onError?: OnError;
  /**
   * Receives each rejected request: its status and problem, the account, and the cause where the client must not learn
   * it, such as why an action was refused. It gets no value that the client sent.
   */
  readonly onRejected?: OnRejected;
  /** The directory to which relative paths refer. Default: the working directory. */
  readonly directory?: string;
  /** The result of `optionsFromEnvironment`. An error about one of its values names the variable. */
  readonly fromEnvironment?: Settings;
}

/**
 * Options from the variables of the standalone service, to which a host adds its own options: `createEndpoint({
 * ...optionsFromEnvironment(process.env), sessions })`. Variables of listeners, TLS, log and commands are checked and
 * left out.
 * @param directory the directory to which relative paths refer.
 * @throws configuration-invalid that names every problem by its variable.
 */
export function optionsFromEnvironment(
  environment: Environment,
  directory: string = process.cwd(),
): Settings & Pick<EndpointOptions, "directory" | "fromEnvironment"> {
  const result = readSettings(environment, directory);
  if (result.ok) return { ...result.settings, directory, fromEnvironment: result.settings };
  throw invalidConfiguration(result.problems);
}

export interface ResolvedOptions {
  readonly config: Config;
  readonly ports: EndpointPorts;
}

/** @throws TypeError that names every problem. */
export function resolveOptions(options: EndpointOptions): ResolvedOptions {
  const members = membersOf(options);
  if ("problem" in members) throw new TypeError(`the options ${members.problem}`);
  const settings = new Map(members.value);
  const problems: string[] = [];
  const take = <T>(name: keyof EndpointOptions, check: (value: unknown) => Result<T | undefined>): T | undefined => {
    const member = settings.get(name);
    if (!member) return undefined;
    const result = "problem" in member ? member : attempt(() => check(member.value));
    if ("problem" in result) problems.push(`${name} ${result.problem}`);
    else if (result.value === undefined) return undefined;
    settings.delete(name);
    return "value" in result ? result.value : undefined;
  };
  const directory = take("directory", path.check);
  const onError = take("onError", isFunction<OnError>);
  const onRejected = take("onRejected", isFunction<OnRejected>);
  const adopted = take("adoptedFields", readAdopted);
  if (adopted && settings.has("adoptedFieldsFile")) {
    problems.push("adoptedFields and adoptedFieldsFile exclude each other");
  }
  const sessions = take("sessions", withMethod<SessionVerifier>("verify"));
  const actions = take("actions", withMethod<ActionRegistry>("find"));
  const fromEnvironment = take<OwnMembers>("fromEnvironment", membersOf);
  const checked = checkSettings(settings, directory ?? process.cwd(), fromEnvironment);
  if (!checked.ok) problems.push(...checked.problems);
  if (!checked.ok || problems.length > 0) throw new TypeError(problems.join("; "));
  const ports = {
    ...(sessions && { sessions }),
    ...(actions && { actions }),
    ...(adopted && { adopted }),
    ...(onRejected && { onRejected: guarded(onRejected) }),
  };
  return { config: checked.config, ports: { ...ports, onError: onError ?? createErrorLog(pino(pino.destination(2))) } };
}

const accept = <T>(value: unknown): Result<T> => ({ value: value as T });

const isFunction = <T>(value: unknown): Result<T> =>
  typeof value === "function" ? accept(value) : { problem: "must be a function" };

/**
 * Accepts an object of the host that has the method; any other value counts as settings (`undefined`). An array or
 * typed array is never such an object, although it may have a method of this name.
 */
const withMethod =
  <T>(name: string) =>
  (value: unknown): Result<T | undefined> => {
    const isOwn =
      !Array.isArray(value) &&
      !ArrayBuffer.isView(value) &&
      typeof (value as Readonly<Record<string, unknown>> | null | undefined)?.[name] === "function";
    return { value: isOwn ? (value as T) : undefined };
  };

function readAdopted(value: unknown): Result<AdoptedFieldSet> {
  const read = readAdoptedPaths(value);
  return read.ok ? { value: { current: read.adopted } } : { problem: read.problem };
}
