/**
 * Commands that are data: each calls one route. Which options it has, which of them are required and which values they
 * take comes from the schema of the route.
 */
import { type Answer, type Input, type Route, type RouteId, routeOf } from "@device-risk-signals/admin-api";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import type { TSchema } from "typebox";
import { accessOf, type Call, withCalls } from "./call.ts";
import { confirm } from "./confirm.ts";
import { escapeInLines } from "../base/messages/escape-controls.ts";
import { type Context, print, printJson } from "./context.ts";
import { placeOf, showInstallation } from "./local.ts";
import {
  account,
  count,
  example,
  idOrPerson,
  name,
  personName,
  time,
  TIMES,
  trimmedText,
  ttl,
  uuid,
} from "./options.ts";
import { type PageOptions, printPages } from "./pages.ts";
import { reasonReader } from "./reason.ts";
import { fullIdOf, idOrEnd, type IdList } from "./short-id.ts";
import { printTable, type Table, withTableOptions } from "./table.ts";

type Member<Id extends RouteId> = keyof Input<Id> & string;
type Reader = (text: string, before?: never) => unknown;

/** The input of a call. A route without dry runs has none. */
type Sent<Id extends RouteId> = Input<Id> & { readonly dry_run: boolean };

/** What differs from the schema. */
interface Given {
  /** Such as `--event <event-id>`. Default: the member's name with hyphens. */
  readonly flags?: string;
  readonly help?: string;
  /** Reads the text. Default: by the schema. */
  readonly read?: Reader;
  /** The value if the option is absent, and how help shows it. */
  readonly fallback?: readonly [value: unknown, shown: string];
}

interface Described<Id extends RouteId> {
  readonly name: string;
  readonly route: Id;
  /** Default: the summary of the route. */
  readonly help?: string;
  readonly examples: readonly [string, ...string[]];
  readonly options?: { readonly [Name in Member<Id>]?: Given | string };
}

export interface RouteCommand<Id extends RouteId> extends Described<Id> {
  /** The member that is an argument, with its help. */
  readonly argument?: readonly [Member<Id>, help: string];
  /** The list that has the ids of the argument, if it also takes the end of an id. */
  readonly ids?: IdList;
  /** Says what is wrong with the input as a whole. */
  readonly problem?: (input: Input<Id>) => string | undefined;
  /** A dry run only reads, so it works on a standby. Without this member it makes the change and rolls it back. */
  readonly readsInDryRun?: true;
  /** Says what the command will do, from a dry run, if the person must confirm it. */
  readonly confirm?: (plan: Answer<Id>) => string | undefined;
  /** What `--json` prints, without `dry_run`. Default: the answer; `false`: the command has no `--json`. */
  readonly json?: ((answer: Answer<Id>) => object) | false;
  /** What to say on standard error. */
  readonly note?: (answer: Answer<Id>) => string | undefined;
  readonly lines?: (answer: Answer<Id>, input: Sent<Id>) => string | readonly string[];
  /** Prints the answer, in place of `lines`. */
  readonly show?: (answer: Answer<Id>, input: Sent<Id>) => void;
}

export interface RouteList<Id extends RouteId, Rows extends keyof Answer<Id>> extends Described<Id>, Table {
  /** The member of the answer that has the rows. */
  readonly rows: Rows;
  readonly columns?: readonly (keyof RowOf<Id, Rows> & string)[] | ((row: RowOf<Id, Rows>) => object);
  /** Default of `--limit`; 0 = no limit. */
  readonly limit?: number;
  /** Says why the list ends with this page, if it does. A list without a limit continues. */
  readonly end?: (answer: Answer<Id>) => string | undefined;
  /** The context of the calls. Default: that of the command. */
  readonly contextOf?: (options: never, command: Command) => Context;
}

type RowOf<Id extends RouteId, Rows extends keyof Answer<Id>> = Answer<Id>[Rows] extends readonly (infer Row)[]
  ? Row
  : never;

/** A group of commands. */
export function groupOf(named: string, shown: string, ...commands: readonly Command[]): Command {
  const group = new Command(named).addHelpText("after", example(shown));
  for (const command of commands) group.addCommand(command);
  return group;
}

export function routeCommand<const Id extends RouteId>(context: Context, described: RouteCommand<Id>): Command {
  const { route: id, argument, ids, problem, confirm: ask, json: shape, lines, show, note } = described;
  const route: Route = routeOf(id);
  const members = membersOf(route);
  const { command, valuesOf } = begin(context, described, argument?.[0]);
  if (argument) {
    const [member, help] = argument;
    const read = ids ? idOrEnd : readerOf(context, member, members[member] ?? {});
    command.addArgument(new Argument(`<${hyphens(member)}>`, help).argParser(read as (text: string) => undefined));
  }
  if (ask) command.option("--yes", "do not ask");
  if (shape !== false) command.option("--json", "print one JSON object");
  command.action(async (...args: readonly unknown[]) => {
    const options = args.at(-2) as Readonly<Record<string, unknown>> & {
      readonly yes?: boolean;
      readonly json?: boolean;
    };
    let input = { ...valuesOf(options), ...(argument && { [argument[0]]: args[0] }) } as Input<Id>;
    const wrong = problem?.(input);
    if (wrong !== undefined) (args.at(-1) as Command).error(`error: ${wrong}`);
    const { dry_run = false } = input as { readonly dry_run?: boolean };
    const access = described.readsInDryRun ? accessOf(id, input as object) : route.access;
    const answer = await withCalls(context, access, async (call) => {
      if (argument && ids)
        input = { ...(input as object), [argument[0]]: await fullIdOf(call, ids, String(args[0])) } as Input<Id>;
      if (!ask) return call(id, input);
      const plan = await call(id, { ...(input as object), dry_run: true } as Input<Id>);
      if (dry_run) return plan;
      const what = ask(plan);
      if (what !== undefined) {
        await showInstallation(context, call);
        // guard(drop): nothing is destroyed or shown again without a confirmation
        await confirm(context, { what, yes: options.yes, where: placeOf(context) });
      }
      return call(id, input);
    });
    const said = note?.(answer);
    if (said !== undefined) context.stderr.write(`${said}\n`);
    const hasDryRun = "dry_run" in members;
    if (options.json) {
      const shown = shape ? shape(answer) : (answer as object);
      return printJson(context, hasDryRun ? { ...shown, dry_run } : shown);
    }
    const sent = { ...(input as object), dry_run } as Sent<Id>;
    show?.(answer, sent);
    for (const line of [lines?.(answer, sent) ?? []].flat()) print(context, line);
  });
  return command;
}

/** A command that ends one thing by its id, or all of a person. */
export function byIdOrPerson(
  context: Context,
  { name: named, help, ids, personHelp, example: shown, none, done, end }: IdOrPerson,
): Command {
  return new Command(named)
    .description(help)
    .argument(`[${hyphens(ids.id)}]`, `the ${ids.id} that \`list\` shows`, idOrEnd)
    .option("--person <name>", personHelp, personName)
    .addHelpText("after", example(shown))
    .action(async (one: string | undefined, { person }: { readonly person?: string }) => {
      if ((one === undefined) === (person === undefined)) throw idOrPerson(`a ${ids.id.replace("_", " ")}`);
      const ended = await withCalls(context, "change", async (call) =>
        end(call, one === undefined ? undefined : await fullIdOf(call, ids, one), person ?? ""),
      );
      if (ended.length === 0) print(context, none);
      for (const each of ended) print(context, `${done} ${each}.`);
    });
}

interface IdOrPerson {
  readonly name: string;
  readonly help: string;
  readonly ids: IdList;
  readonly personHelp: string;
  readonly example: string;
  /** What is printed if the person has none. */
  readonly none: string;
  /** What happened to each. */
  readonly done: string;
  /** Ends the one, or if it is absent all of the person. @returns the ids of what ended. */
  readonly end: (call: Call, one: string | undefined, person: string) => Promise<readonly string[]>;
}

export function routeList<const Id extends RouteId, const Rows extends keyof Answer<Id> & string>(
  context: Context,
  described: RouteList<Id, Rows>,
): Command {
  const { route: id, rows, limit = 0, end, contextOf } = described;
  const route: Route = routeOf(id);
  const { command, valuesOf } = begin(context, described);
  const hasPages = "limit" in membersOf(route);
  if (hasPages) command.option("--limit <n>", "maximum number of rows; 0 = no limit", count, limit);
  return withTableOptions(command).action(
    async (options: PageOptions & Readonly<Record<string, unknown>>, self: Command) => {
      await withCalls(contextOf?.(options as never, self) ?? context, route.access, async (call) => {
        const read = async (
          position: object,
        ): Promise<{ readonly rows: readonly object[]; readonly next: string | null }> => {
          const answer = await call(id, { ...valuesOf(options), ...position } as Input<Id>);
          const { [rows as string]: found, next = null } = answer as Readonly<Record<string, unknown>>;
          const ended = options.limit === 0 ? undefined : end?.(answer);
          if (ended !== undefined) context.stderr.write(`${escapeInLines(ended)}\n`);
          return { rows: found as readonly object[], next: ended === undefined ? (next as string | null) : null };
        };
        if (hasPages) await printPages(context, read, options, described);
        else printTable(context, (await read({})).rows, described, options);
      });
    },
  );
}

/** The options of lists by hour. */
export const HOURS = {
  from: { flags: "--from <time>", help: `only hours that end after this time: ${TIMES}` },
  to: { flags: "--to <time>", help: "only hours that begin before this time" },
} as const;

/** Members that have an option only if the command describes one. */
const OF_PAGES = new Set(["limit", "after"]);

/** Begins a command with the options of the route. `valuesOf` turns their values into members of the input. */
function begin<Id extends RouteId>(
  context: Context,
  { name: named, route: id, help, examples, options = {} }: Described<Id>,
  argument?: string,
): { readonly command: Command; readonly valuesOf: (options: Readonly<Record<string, unknown>>) => object } {
  const route: Route = routeOf(id);
  const required = new Set([route.params, route.query, route.body].flatMap((part) => part?.required ?? []));
  const command = new Command(named)
    .description(help ?? `${route.summary}.`)
    .addHelpText("after", example(...examples));
  const attributes = new Map<string, string>();
  for (const [member, schema] of Object.entries(membersOf(route))) {
    const given = (options as Readonly<Record<string, Given | string>>)[member];
    if (member === argument || (OF_PAGES.has(member) && given === undefined)) continue;
    const option = optionOf(context, member, schema, given);
    if (required.has(member) && option.defaultValue === undefined) option.makeOptionMandatory();
    attributes.set(option.attributeName(), member);
    command.addOption(option);
  }
  const valuesOf = (values: Readonly<Record<string, unknown>>): object =>
    Object.fromEntries(
      [...attributes].flatMap(([attribute, member]) =>
        values[attribute] === undefined ? [] : [[member, values[attribute]]],
      ),
    );
  return { command, valuesOf };
}

const membersOf = ({ params, query, body }: Route): Readonly<Record<string, TSchema>> => ({
  ...params?.properties,
  ...query?.properties,
  ...body?.properties,
});

interface ReadSchema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly description?: string;
}

function optionOf(context: Context, member: string, schema: ReadSchema, given: Given | string = {}): Option {
  const { flags, help, read, fallback } = typeof given === "string" ? ({ help: given } as Given) : given;
  const { type, enum: values, description = "" } = schema;
  const text = help ?? decapitalized(description);
  if (type === "boolean") return new Option(flags ?? `--${hyphens(member)}`, text);
  const named = member.replace(/_(ms|at)$/, "");
  const option = new Option(flags ?? `--${hyphens(named)} <${PLACEHOLDERS[member] ?? hyphens(named)}>`, text);
  if (values && !read) option.choices(values.map(String));
  const parse = read ?? (values ? undefined : readerOf(context, member, schema));
  if (parse) option.argParser(parse as (text: string) => undefined);
  if (values?.some((value) => typeof value === "number")) {
    // A choice that is a number in the schema.
    const choose = option.parseArg as (text: string, before: unknown) => string;
    option.argParser((given: string) => Number(choose(given, undefined)));
  }
  if (fallback) option.default(...fallback);
  return option;
}

const PLACEHOLDERS: Readonly<Record<string, string>> = { reason: "text", approver: "name", ttl_ms: "duration" };

const UUID_START = "^[0-9a-fA-F]{8}-";

/** Reads a value as the schema of its member says. */
function readerOf(
  context: Context,
  member: string,
  { type, format, pattern, maxLength, minimum = 0, maximum = 1e15 }: ReadSchema,
): Reader {
  if (member === "reason") return reasonReader(context);
  if (member === "account") return account;
  if (member === "ttl_ms") return ttl;
  if (pattern?.startsWith(UUID_START)) return uuid;
  if (type === "integer") return wholeNumber(minimum, maximum);
  if (format === "date-time") return (text) => new Date(time(context.clock)(text)).toISOString();
  // People read these texts.
  if (member === "approver" || member === "identity") return trimmedText("It", maxLength ?? 1_000);
  return name("It", maxLength ?? 1_000);
}

function wholeNumber(smallest: number, largest: number): Reader {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= smallest && value <= largest) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${smallest} to ${largest}.`);
  };
}

const hyphens = (member: string): string => member.replaceAll("_", "-");

const decapitalized = (text: string): string => `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`.replace(/\.$/, "");
