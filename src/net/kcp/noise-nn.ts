/**
 * The handshake: Noise_NNpsk0_25519_ChaChaPoly_SHA256 (the Noise protocol framework, revision 34). Both ends prove
 * that they know the shared key, and agree on keys that are of this session alone: who learns the shared key later
 * can not read what was said before.
 *
 *     -> psk, e   + payload        <- e, ee   + payload
 */
import { createCipheriv, createDecipheriv, createHash, createHmac } from "node:crypto";
import { generateKeyPair, KEY_BYTES, type KeyPair, sharedSecret } from "../../platform/x25519.ts";

const CONSTRUCTION = "Noise_NNpsk0_25519_ChaChaPoly_SHA256";
const NOISE_TAG_BYTES = 16;
const ZERO_NONCE = Buffer.alloc(12);
const NOTHING = Buffer.alloc(0);

/** What both ends know after a message. */
interface Transcript {
  readonly chain: Buffer;
  readonly hash: Buffer;
}

/** What an initiator keeps until the answer comes. */
export interface Initiated extends Transcript {
  readonly ephemeral: KeyPair;
}

export interface Initiation extends Transcript {
  readonly remote: Buffer;
  readonly payload: Buffer;
}

export interface SessionKeys {
  readonly sealing: Buffer;
  readonly opening: Buffer;
}

/** @param prologue what both ends must have seen alike */
export function initiate(
  sharedKey: Uint8Array,
  prologue: Uint8Array,
  payload: Uint8Array,
  ephemeral: KeyPair = generateKeyPair(),
): { readonly message: Buffer; readonly state: Initiated } {
  const { key, ...start } = begin(sharedKey, prologue, ephemeral.publicBytes);
  const sealed = seal(key, payload, start.hash);
  const message = Buffer.concat([ephemeral.publicBytes, sealed]);
  return { message, state: { chain: start.chain, hash: mixed(start.hash, sealed), ephemeral } };
}

/** Undefined where it was made with another shared key. */
export function readInitiation(
  sharedKey: Uint8Array,
  prologue: Uint8Array,
  message: Uint8Array,
): Initiation | undefined {
  if (message.length < KEY_BYTES + NOISE_TAG_BYTES) return undefined;
  const remote = Buffer.from(message.subarray(0, KEY_BYTES));
  const { key, ...start } = begin(sharedKey, prologue, remote);
  const sealed = message.subarray(KEY_BYTES);
  const payload = open(key, sealed, start.hash);
  if (payload === undefined) return undefined;
  return { chain: start.chain, hash: mixed(start.hash, sealed), remote, payload };
}

/** Undefined where the initiator's key gives nothing. */
export function respond(
  initiation: Initiation,
  payload: Uint8Array,
  ephemeral: KeyPair = generateKeyPair(),
): { readonly message: Buffer; readonly keys: SessionKeys } | undefined {
  const secret = sharedSecret(ephemeral.privateKey, initiation.remote);
  if (secret === undefined) return undefined;
  const agreed = agree(initiation, ephemeral.publicBytes, secret);
  const sealed = seal(agreed.key, payload, agreed.hash);
  const [opening, sealing] = derive(agreed.chain, NOTHING);
  const message = Buffer.concat([ephemeral.publicBytes, sealed]);
  return { message, keys: { sealing, opening } };
}

/** Undefined where it is no answer to this initiation. */
export function readResponse(
  state: Initiated,
  message: Uint8Array,
): { readonly payload: Buffer; readonly keys: SessionKeys } | undefined {
  if (message.length < KEY_BYTES + NOISE_TAG_BYTES) return undefined;
  const remote = message.subarray(0, KEY_BYTES);
  const secret = sharedSecret(state.ephemeral.privateKey, remote);
  if (secret === undefined) return undefined;
  const agreed = agree(state, remote, secret);
  const payload = open(agreed.key, message.subarray(KEY_BYTES), agreed.hash);
  const [sealing, opening] = derive(agreed.chain, NOTHING);
  return payload && { payload, keys: { sealing, opening } };
}

function begin(
  sharedKey: Uint8Array,
  prologue: Uint8Array,
  ephemeral: Uint8Array,
): Transcript & { readonly key: Buffer } {
  const name = createHash("sha256").update(CONSTRUCTION).digest();
  const [chain, added] = derive(name, sharedKey);
  const hash = mixed(mixed(mixed(name, prologue), added), ephemeral);
  const [next, key] = derive(chain, ephemeral);
  return { chain: next, hash, key };
}

function agree(
  { chain, hash }: Transcript,
  ephemeral: Uint8Array,
  secret: Uint8Array,
): Transcript & { readonly key: Buffer } {
  const [first] = derive(chain, ephemeral);
  const [next, key] = derive(first, secret);
  return { chain: next, hash: mixed(hash, ephemeral), key };
}

function mixed(hash: Uint8Array, bytes: Uint8Array): Buffer {
  return createHash("sha256").update(hash).update(bytes).digest();
}

/** The first two outputs of HKDF; a third, which the shared key gives as well, is replaced before it is used. */
function derive(chain: Uint8Array, input: Uint8Array): readonly [Buffer, Buffer] {
  const secret = createHmac("sha256", chain).update(input).digest();
  const first = createHmac("sha256", secret).update(Uint8Array.of(1)).digest();
  const second = createHmac("sha256", secret).update(first).update(Uint8Array.of(2)).digest();
  return [first, second];
}

const AEAD = { authTagLength: NOISE_TAG_BYTES } as const;

function seal(key: Buffer, plain: Uint8Array, covered: Buffer): Buffer {
  const cipher = createCipheriv("chacha20-poly1305", key, ZERO_NONCE, AEAD);
  cipher.setAAD(covered, { plaintextLength: plain.length });
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function open(key: Buffer, sealed: Uint8Array, covered: Buffer): Buffer | undefined {
  const end = sealed.length - NOISE_TAG_BYTES;
  const cipher = createDecipheriv("chacha20-poly1305", key, ZERO_NONCE, AEAD);
  cipher.setAAD(covered, { plaintextLength: end });
  cipher.setAuthTag(sealed.subarray(end));
  try {
    return Buffer.concat([cipher.update(sealed.subarray(0, end)), cipher.final()]);
  } catch {
    return undefined;
  }
}
