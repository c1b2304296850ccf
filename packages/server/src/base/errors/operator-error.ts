import { type ExitCode, OPERATOR_ERRORS, type OperatorErrorCode, type OperatorErrorDetails } from "./codes.ts";

type DetailOf<Code> = Code extends keyof OperatorErrorDetails ? OperatorErrorDetails[Code] : undefined;

/** The type requires `detail` for a code that has details, and forbids it for every other code. */
type OptionsOf<Code> =
  undefined extends DetailOf<Code>
    ? [options?: ErrorOptions & { readonly detail?: DetailOf<Code> }]
    : [options: ErrorOptions & { readonly detail: DetailOf<Code> }];

/**
 * An error of the server with a code of the registry. Its message may be logged and shown to an operator: it holds no
 * secret, no payload and no value of a client.
 */
export class OperatorError<Code extends OperatorErrorCode = OperatorErrorCode> extends Error {
  override readonly name: string = "OperatorError";
  readonly code: Code;
  readonly detail: DetailOf<Code>;

  constructor(code: Code, message: string, ...[options]: OptionsOf<Code>) {
    super(message, options);
    this.code = code;
    this.detail = options?.detail as DetailOf<Code>;
  }

  get exitCode(): ExitCode {
    return OPERATOR_ERRORS[this.code].exitCode;
  }

  get retryable(): boolean {
    return OPERATOR_ERRORS[this.code].retryable;
  }
}

/** Whether an error has one of the codes. */
export function hasCode<Code extends OperatorErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is OperatorError<Code> {
  return error instanceof OperatorError && codes.some((code) => code === error.code);
}

/** Codes that start with the name of an area, such as `journal-damaged`. */
type CodeOf<Area extends string> = Extract<OperatorErrorCode, `${Area}-${string}`>;

/** Whether an error has any code of an area. */
export function hasCodeOfArea<Area extends "embedded-postgres" | "journal">(
  error: unknown,
  area: Area,
): error is OperatorError<CodeOf<Area>> {
  return error instanceof OperatorError && error.code.startsWith(`${area}-`);
}
