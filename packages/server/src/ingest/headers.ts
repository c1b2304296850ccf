import { LIMITS } from "@device-risk-signals/contract";
import { type RejectedRequest, rejectRequest, type RequestHeaders } from "./request.ts";

export type Encoding = "identity" | "gzip";

export interface IngestHeaders extends BodyHeaders {
  readonly idempotencyKey: string;
}

export interface BodyHeaders {
  readonly encoding: Encoding;
  /** `Content-Length`, in bytes; undefined if the body comes in chunks. */
  readonly length: number | undefined;
}

const IDEMPOTENCY_KEY = new RegExp(`^[!-~]{1,${LIMITS.idempotencyKey}}$`);

export function readHeaders(headers: RequestHeaders): IngestHeaders | RejectedRequest {
  const keys = headers.all("idempotency-key");
  const [idempotencyKey = ""] = keys;
  if (keys.length <= 1 && idempotencyKey === "") return rejectRequest("idempotency-key-missing");
  if (keys.length > 1 || !IDEMPOTENCY_KEY.test(idempotencyKey)) return rejectRequest("idempotency-key-invalid");

  const types = headers.all("content-type");
  if (types.length > 1 || (types[0] !== undefined && !isJson(types[0]))) return rejectRequest("media-type-unsupported");

  const transfer = headers.all("transfer-encoding").join(",").trim().toLowerCase();
  if (transfer !== "" && transfer !== "chunked") return rejectRequest("encoding-unsupported");
  const encoding = encodingOf(headers.all("content-encoding"));
  if (encoding === undefined) return rejectRequest("encoding-unsupported");
  return { idempotencyKey, encoding, length: lengthOf(headers.all("content-length")) };
}

/** HTTP servers reject a length that is not a number; a host of the Fetch standard may construct any header. */
function lengthOf([value = ""]: readonly string[]): number | undefined {
  return /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

const MEDIA_TYPE_PARAMETER = /^[ \t]*([^\s=]+)=(?:"([^"]*)"|([^\s";]+))[ \t]*$/;

/**
 * Whether the value is `application/json` with the charset UTF-8 or without a charset. Other parameters are ignored,
 * because RFC 8259 defines no parameters.
 */
function isJson(value: string): boolean {
  if (value === "application/json") return true;
  const [type = "", ...parameters] = value.split(";");
  if (type.trim().toLowerCase() !== "application/json") return false;
  return parameters.every((parameter) => {
    if (parameter.trim() === "") return true;
    const [, name, quoted, token] = MEDIA_TYPE_PARAMETER.exec(parameter) ?? [];
    return name !== undefined && (name.toLowerCase() !== "charset" || /^utf-?8$/i.test(quoted ?? token ?? ""));
  });
}

function encodingOf(values: readonly string[]): Encoding | undefined {
  const named = values
    .flatMap((value) => value.split(","))
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
  if (named.length === 0) return "identity";
  return named.length === 1 && (named[0] === "gzip" || named[0] === "x-gzip") ? "gzip" : undefined;
}
