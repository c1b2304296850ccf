import type { KeyObject } from "node:crypto";
import { hasCode, OperatorError } from "../../base/errors/operator-error.ts";
import { isMacOf, macOf } from "../../store/crypto/mac.ts";
import {
  type AcceptedLoss,
  ERASURE_KINDS,
  type ErasureKind,
  HOLD_ORDER_KINDS,
  type HoldOrderKind,
  type JournalEntry,
  createJournalDamagedError,
  createJournalForeignError,
  RESTRICTION_ARTICLES,
  RESTRICTION_ORDER_KINDS,
  type RestrictionArticle,
  type RestrictionOrderKind,
  type StoredText,
} from "./journal.ts";

/**
 * Encodes and decodes the journal entries and accepted losses of one installation. Their text is one line of JSON. Its
 * last member, `mac`, is the HMAC-SHA-256 (RFC 2104), in hexadecimal, of the text before this member.
 */
export class EntryCodec {
  readonly #key: KeyObject;
  readonly installation: string;

  constructor(key: KeyObject, installation: string) {
    this.#key = key;
    this.installation = installation;
  }

  encode(entry: JournalEntry | AcceptedLoss): string {
    const signed = JSON.stringify(entry).slice(0, -1);
    return `${signed},"mac":"${macOf(this.#key, signed).toString("hex")}"}\n`;
  }

  /** @throws journal-damaged, or journal-foreign if the text belongs to another installation. */
  decode(stored: StoredText): JournalEntry {
    const entry = this.#open(stored);
    if (!isEntry(entry) || entry.sequence !== stored.sequence) throw damaged(stored.sequence, "is not in a known form");
    return entry;
  }

  /** @throws journal-loss-invalid if the text is not a statement of this installation about this entry. */
  decodeLoss(stored: StoredText): AcceptedLoss {
    try {
      const loss = this.#open(stored) as Partial<AcceptedLoss>;
      const isLoss = loss.kind === "loss" && (loss.digest === null || isText(loss.digest, DIGEST_TEXT));
      if (isLoss && loss.sequence === stored.sequence) return loss as AcceptedLoss;
    } catch (error) {
      if (!hasCode(error, "journal-damaged", "journal-foreign")) throw error;
    }
    throw new OperatorError(
      "journal-loss-invalid",
      `the accepted loss of entry ${stored.sequence} of the erasure journal was changed or is another installation's: ` +
        "restore it, or move it out of the journal",
    );
  }

  #open({ sequence, text }: StoredText): Partial<JournalEntry | AcceptedLoss> {
    const [, signed = "", mac = ""] = SIGNED_ENTRY.exec(text) ?? [];
    const fields = parse(`${signed}}`);
    if (fields === undefined) throw damaged(sequence, "is not readable");
    if (fields.installation !== this.installation) throw createJournalForeignError(sequence);
    if (!isMacOf(this.#key, signed, Buffer.from(mac, "hex"))) throw damaged(sequence, "was changed");
    return fields;
  }
}

const SIGNED_ENTRY = /^(\{.*),"mac":"([\da-f]{64})"\}\n$/;

function parse(json: string): Partial<JournalEntry | AcceptedLoss> | undefined {
  try {
    return JSON.parse(json) as Partial<JournalEntry>;
  } catch {
    return undefined;
  }
}

const damaged = (sequence: number, what: string): OperatorError =>
  createJournalDamagedError(sequence, `entry ${sequence} of the erasure journal ${what}`);

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const MAC_TEXT = /^[\da-f]{32}$/;
const DIGEST_TEXT = /^[\da-f]{64}$/;
const DATE_TEXT = /^\d{4}-\d{2}-\d{2}$/;
const PURPOSE_ID = /^[a-z\d][a-z\d_-]{0,62}$/;

function isEntry(fields: object): fields is JournalEntry {
  const entry = fields as Record<string, unknown>;
  if (!isBase(entry)) return false;
  if (ERASURE_KINDS.includes(entry["kind"] as ErasureKind)) return isErasure(entry);
  if (HOLD_ORDER_KINDS.includes(entry["kind"] as HoldOrderKind)) return isHoldOrder(entry);
  return RESTRICTION_ORDER_KINDS.includes(entry["kind"] as RestrictionOrderKind) && isRestrictionOrder(entry);
}

const isBase = ({ version, sequence, at, previous }: Record<string, unknown>): boolean =>
  version === 1 &&
  Number.isSafeInteger(sequence) &&
  !Number.isNaN(Date.parse(String(at))) &&
  isText(previous, DIGEST_TEXT);

function isErasure({ erasure_id, subject, refused, ...lists }: Record<string, unknown>): boolean {
  const { keys, accounts, events, holds, restrictions = [] } = lists;
  return (
    isText(erasure_id, UUID) &&
    (subject === null || isText(subject, MAC_TEXT)) &&
    [keys, accounts, events, holds, restrictions].every((ids) => isList(ids, UUID)) &&
    isList(refused, MAC_TEXT)
  );
}

function isHoldOrder({ kind, hold_id, review_on, subject }: Record<string, unknown>): boolean {
  if (!isText(hold_id, UUID)) return false;
  if (kind !== "hold-lifted" && !isText(review_on, DATE_TEXT)) return false;
  return kind !== "hold-placed" || isHeldSubject(subject);
}

function isHeldSubject(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { of, mac, event_id } = value as Record<string, unknown>;
  return of === "event_id" ? isText(event_id, UUID) : (of === "account" || of === "action_id") && isText(mac, MAC_TEXT);
}

function isRestrictionOrder(entry: Record<string, unknown>): boolean {
  const { kind, restriction_id, informed_on, account, purpose, article, request_id } = entry;
  if (!isText(restriction_id, UUID)) return false;
  if (kind === "restriction-lifted") return isText(informed_on, DATE_TEXT);
  return (
    isText(account, MAC_TEXT) &&
    (purpose === null || isText(purpose, PURPOSE_ID)) &&
    RESTRICTION_ARTICLES.includes(article as RestrictionArticle) &&
    (request_id === null || isText(request_id, UUID))
  );
}

const isText = (value: unknown, form: RegExp): boolean => typeof value === "string" && form.test(value);
const isList = (value: unknown, form: RegExp): boolean =>
  Array.isArray(value) && value.every((one) => isText(one, form));
