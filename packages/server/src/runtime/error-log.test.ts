import { Writable } from "node:stream";
import pg from "pg";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { OperatorError } from "../base/errors/operator-error.ts";
import { Unavailable } from "../base/ports.ts";
import { createErrorLog } from "./error-log.ts";

function logged(error: unknown): string {
  let text = "";
  const sink = new Writable({
    write(chunk: Buffer, _, done) {
      text += chunk.toString();
      done();
    },
  });
  createErrorLog(pino({}, sink))(error, "commit batch");
  return text;
}

/** The error that work throws. */
function errorOf(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
}

/** A text from another system. The second line of the text looks like a frame of a stack. */
const SENT = 'upstream-text "x"\n    at upstream-text (upstream-text:1:1)';

const refusedBy = (code: string): Error => Object.assign(new pg.DatabaseError("text", 1, "error"), { code });

describe("the log of errors", () => {
  const codedErrors: readonly (readonly [string, unknown, string])[] = [
    ["an error of the registry", new OperatorError("schema-newer", "start that version"), "schema-newer"],
    ["a dependency that is away", new Unavailable("away"), "dependency-unavailable"],
    ["a database that has too many connections", refusedBy("53300"), "dependency-unavailable"],
    ["a statement that the database refuses", refusedBy("42P01"), "database-refused"],
    ["a lost connection", new Error("Connection terminated unexpectedly"), "dependency-unavailable"],
    ["several errors", new AggregateError([new Error("one"), new Error("two")], "both"), "several-errors"],
    ["any other error", new Error("a defect"), "unexpected-error"],
    ["what is no error", "text", "unexpected-error"],
  ];
  it.each(codedErrors)("names the failed operation and a code of the registry for %s", (_, error, code) => {
    expect(JSON.parse(logged(error))).toMatchObject({ code, operation: "commit batch", msg: "commit batch failed" });
  });

  const sqlError = new pg.DatabaseError(SENT, 1, "error");
  const quotingErrors: readonly (readonly [string, Error])[] = [
    ["a body that is no JSON", errorOf(() => JSON.parse(SENT))],
    ["a URL that is none", errorOf(() => new URL(SENT))],
    ["a number that is none", errorOf(() => BigInt(SENT))],
    ["a text that is badly encoded", errorOf(() => decodeURIComponent(`%${SENT}`))],
    ["a certificate's names", Object.assign(new Error(SENT), { code: "ERR_TLS_CERT_ALTNAME_INVALID" })],
    ["a database's error without a code", sqlError],
    [
      "a database's error with odd codes",
      Object.assign(new pg.DatabaseError(SENT, 1, "error"), { code: SENT, constraint: SENT }),
    ],
    [
      "a login that the database refuses",
      new Error(`SASL: SCRAM-SERVER-FINAL-MESSAGE: server returned error: "${SENT}"`),
    ],
    ["any of them as a cause", new Unavailable("ours", { cause: errorOf(() => JSON.parse(SENT)) })],
  ];
  it.each(quotingErrors)("never quotes %s", (_, error) => {
    const line = logged(error);
    expect(line).toContain('"error"');
    expect(line).not.toContain("upstream-text");
  });

  it("contains what an operator needs: our own messages, codes, and the place in the source", () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), {
      code: "ECONNREFUSED",
      syscall: "connect",
    });
    const { error } = JSON.parse(logged(new Unavailable("the database is away", { cause: refused }))) as {
      error: Record<string, unknown>;
    };
    expect(error).toMatchObject({
      name: "Unavailable",
      message: "the database is away",
      at: expect.stringContaining("error-log.test.ts") as string,
      cause: { code: "ECONNREFUSED", message: "connect ECONNREFUSED 127.0.0.1:5432" },
    });
    const unique = Object.assign(new pg.DatabaseError("Key (account)=(alice) exists", 1, "error"), {
      code: "23505",
      constraint: "event_pkey",
    });
    expect(JSON.parse(logged(unique))).toMatchObject({
      error: { name: "DatabaseError", sqlState: "23505", constraint: "event_pkey" },
    });
    expect(logged(new Error("Connection terminated unexpectedly"))).toContain("Connection terminated unexpectedly");
  });
});
