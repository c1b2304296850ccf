import type { ViolationCode, ProblemCode } from "@device-risk-signals/contract";
import {
  authorized,
  freshKey,
  PATH,
  type Post,
  type Reply,
  send,
  sendRaw,
  transport,
  type Transport,
} from "../support/client.ts";
import type { Parties } from "../support/parties.ts";

/** The answer that a rejection must have. */
export interface Expected {
  readonly status: number;
  readonly problem: ProblemCode;
  /** The code of the violation at `pointer`; by default the code of the problem itself. */
  readonly error?: ViolationCode;
  readonly pointer?: string;
  readonly headers?: Readonly<Record<string, string | RegExp>>;
}

export interface Case {
  /**
   * The number of the step that rejects the request: 1 method, 2 authentication, 4 idempotency key, 5 media type, 6
   * encoding, 7 size, 8 text, 9 members of the request, 10 the raw event, 12 `collected_at`, 15 action, 16 session
   * binding, 18 the HTTP server. Other steps have tests of their own.
   */
  readonly row: number;
  readonly name: string;
  readonly expected: Expected;
  readonly send: (scene: Scene) => Promise<Reply>;
}

/** What one case needs: a server, its parties, and an idempotency key that must still be unused after the case. */
export class Scene {
  readonly url: string;
  readonly parties: Parties;
  readonly key: string = freshKey();

  constructor(url: string, parties: Parties) {
    this.url = url;
    this.parties = parties;
  }

  get headers(): Record<string, string> {
    return authorized(this.parties.good, this.key);
  }

  good(): Transport {
    return transport(this.parties.good);
  }

  post(body: string | Uint8Array | undefined, headers: Post["headers"] = {}): Promise<Reply> {
    const all = { ...this.headers, ...headers };
    return send({ url: this.url, headers: all, ...(body !== undefined && { body }) });
  }

  /** Posts the valid request after a change. */
  changed(change: (request: Record<string, never>) => void): Promise<Reply> {
    const request = this.good();
    change(request as never);
    return this.post(JSON.stringify(request));
  }

  /** Posts the text of the valid request after a change. */
  text(change: (text: string) => string): Promise<Reply> {
    return this.post(change(JSON.stringify(this.good())));
  }

  /** Sends a request byte by byte as given: the request line, `Host`, the lines of `head`, an empty line, the body. */
  raw(head: readonly string[], body: string | Uint8Array = "", waitMs?: number): Promise<Reply> {
    const { host } = new URL(this.url);
    const lines = [`POST ${PATH} HTTP/1.1`, `Host: ${host}`, ...head, "", ""].join("\r\n");
    return sendRaw(this.url, Buffer.concat([Buffer.from(lines), Buffer.from(body)]), waitMs);
  }

  rawHeaders(): string[] {
    return Object.entries(this.headers).map(([name, value]) => `${name}: ${value}`);
  }
}

/** Runs a case. @returns the differences from the expected result. */
export async function failuresOf(test: Case, url: string, parties: Parties): Promise<string[]> {
  const scene = new Scene(url, parties);
  const { expected } = test;
  const failures: string[] = [];
  const require = (condition: boolean, problem: string): void => {
    if (!condition) failures.push(`${test.name}: ${problem}`);
  };
  const answer = await test.send(scene).catch((error: Error) => error);
  if (answer instanceof Error) return [`${test.name}: no answer (${answer.message})`];
  require(answer.status ===
    expected.status, `status ${answer.status}, not ${expected.status}: ${answer.text.slice(0, 300)}`);
  if (answer.status === expected.status) {
    const { json } = answer;
    const errors = (json["errors"] ?? []) as { pointer: string; code: string; detail: string }[];
    const pointer = expected.pointer ?? "";
    const code = expected.error ?? expected.problem;
    require(answer.headers["content-type"] === "application/problem+json", "not a problem document");
    require(json["type"] === `urn:problem:device-risk-signals:${expected.problem}`, `type ${String(json["type"])}`);
    require(json["status"] === expected.status, "status in the document");
    require(typeof json["detail"] === "string" && json["detail"] !== "", "detail");
    require(errors.some(
      (entry) => entry.pointer === pointer && entry.code === code && entry.detail !== "",
    ), `no ${code} at "${pointer}" in ${JSON.stringify(errors).slice(0, 300)}`);
    for (const [name, value] of Object.entries(expected.headers ?? {})) {
      const found = answer.headers[name];
      const fits = value instanceof RegExp ? value.test(found ?? "") : found === value;
      require(fits, `header ${name} is ${found}`);
    }
  }
  // Checks that nothing is stored and that the idempotency key is unused: a valid request can use it.
  const after = await scene.post(JSON.stringify(scene.good()));
  require(after.status === 201, `the key then gets ${after.status}: ${after.text.slice(0, 200)}`);
  return failures;
}
