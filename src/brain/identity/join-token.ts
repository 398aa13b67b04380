import { createHash, timingSafeEqual } from "node:crypto";
import * as z from "zod";
import { CoreError } from "../../core/errors.ts";

/** What is kept of a token: who reads it can not join with it. */
export interface TokenRecord {
  readonly id: string;
  /** SHA-256 of the secret, which is as random as a key: nothing slower is needed. */
  readonly hash: string;
  readonly createdMs: number;
  readonly expiresMs: number;
  /** How many nodes may still join with it; -1: any number. */
  readonly usesLeft: number;
  /** For people. */
  readonly note: string;
  /** NAMESPACE/NAME: it is for the identity of that service; empty: for nodes. */
  readonly service: string;
}

export const tokenRecordSchema: z.ZodType<TokenRecord> = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{12}$/),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  createdMs: z.number(),
  expiresMs: z.number(),
  usesLeft: z.int().min(-1),
  note: z.string(),
  service: z.string().default(""),
});

export interface NewToken {
  readonly record: TokenRecord;
  /** Told once, to who asked for it. */
  readonly text: string;
}

/** What a node reads from a token. */
export interface JoinToken {
  readonly id: string;
  readonly secret: string;
  /** SHA-256 of the authority's certificate, in base64url: so the node knows the manager before it knows anybody. */
  readonly pin: string;
}

export interface TokenOptions {
  readonly nowMs: number;
  readonly lifetimeMs: number;
  /** -1: any number. */
  readonly uses: number;
  readonly note: string;
  /** As that of the record; missing: for nodes. */
  readonly service?: string | undefined;
  readonly pin: string;
  readonly randomBytes: (count: number) => Buffer;
}

const VERSION = "pt1";
const ID_BYTES = 6;
const SECRET_BYTES = 32;
const FORM = /^pt1\.([0-9a-f]{12})\.([\w-]{43})\.([\w-]{43})$/;

export function createToken(options: TokenOptions): NewToken {
  const { nowMs, lifetimeMs, uses, note, service = "", pin, randomBytes } = options;
  const id = randomBytes(ID_BYTES).toString("hex");
  const secret = randomBytes(SECRET_BYTES).toString("base64url");
  const record = {
    id,
    hash: hashOf(secret).toString("hex"),
    createdMs: nowMs,
    expiresMs: nowMs + lifetimeMs,
    usesLeft: uses,
    note,
    service,
  };
  return { record, text: [VERSION, id, secret, pin].join(".") };
}

/** @throws CoreError ERR_UNAUTHORIZED, without the token in the message */
export function parseToken(text: string): JoinToken {
  const [, id, secret, pin] = FORM.exec(text.trim()) ?? [];
  if (id === undefined || secret === undefined || pin === undefined) {
    throw new CoreError(
      "ERR_UNAUTHORIZED",
      "the join token is not whole; expected all of what portolan manager token create printed",
    );
  }
  return { id, secret, pin };
}

/**
 * The token as it is after it was used, or an error where it can not be.
 * @param service whose identity is asked for; empty: a node joins
 * @throws CoreError ERR_UNAUTHORIZED
 */
export function useToken(
  { id, secret }: JoinToken,
  record: TokenRecord | undefined,
  nowMs: number,
  service = "",
): TokenRecord {
  // Who does not know the secret learns nothing, not even whether there is such a token.
  const expected = Buffer.from(record?.hash ?? hashOf(id).toString("hex"), "hex");
  const isRight = timingSafeEqual(hashOf(secret), expected);
  if (record === undefined || !isRight) throw refused("it is not known here, or was revoked");
  if (record.service !== service) {
    throw refused(
      record.service === "" ? "it is for nodes" : `it is for service ${record.service}`,
    );
  }
  if (nowMs >= record.expiresMs) {
    throw refused(`it expired at ${new Date(record.expiresMs).toISOString()}`);
  }
  if (record.usesLeft === 0) throw refused("it was used up");
  return record.usesLeft < 0 ? record : { ...record, usesLeft: record.usesLeft - 1 };
}

function hashOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

function refused(why: string): CoreError {
  return new CoreError(
    "ERR_UNAUTHORIZED",
    `the join token is refused: ${why}; expected one of portolan manager token create`,
  );
}
