/**
 * The handshake of WireGuard (its paper, 5.4): Noise_IKpsk2 with 25519, ChaCha20-Poly1305 and BLAKE2s,
 * and a first authenticator that only who knows the responder's key can write. Two things are open:
 * the identifier, and what the two messages carry. WireGuard's own are a time stamp, and nothing.
 *
 *     initiation   01 00 00 00 | sender | ephemeral (32) | static (48) | payload + 16 | mac1 (16) | mac2 (16)
 *     response     02 00 00 00 | sender | receiver | ephemeral (32) | payload + 16 | mac1 (16) | mac2 (16)
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  timingSafeEqual,
} from "node:crypto";
import { generateKeyPair, KEY_BYTES, type KeyPair, sharedSecret } from "../../platform/x25519.ts";
import { blake2sMac } from "./blake2s-mac.ts";
import { TYPE_INITIATION, TYPE_RESPONSE } from "./wire-form.ts";

const CONSTRUCTION = "Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s";
const LABEL_MAC1 = "mac1----";
const TAG_BYTES = 16;
const MAC_BYTES = 16;
const HEADER_BYTES = 4;
const INDEX_BYTES = 4;
const ZERO_NONCE = Buffer.alloc(12);
const NO_SHARED_KEY = Buffer.alloc(32);
const INITIATION_BYTES: number =
  HEADER_BYTES + INDEX_BYTES + KEY_BYTES + KEY_BYTES + TAG_BYTES + TAG_BYTES + 2 * MAC_BYTES;
const RESPONSE_BYTES: number =
  HEADER_BYTES + 2 * INDEX_BYTES + KEY_BYTES + TAG_BYTES + 2 * MAC_BYTES;
/** None is longer, whatever it carries: hashing much is what a forger could ask of us otherwise. */
const MAX_HANDSHAKE_BYTES = 256;

/** What both ends know after a message. */
interface Transcript {
  readonly chain: Buffer;
  readonly hash: Buffer;
}

/** What an initiator keeps until the response comes. */
export interface Initiated extends Transcript {
  readonly ephemeral: KeyPair;
}

/** What a responder has learnt of an initiation. */
export interface Received extends Transcript {
  readonly senderIndex: number;
  readonly ephemeral: Buffer;
  readonly publicKey: Buffer;
  readonly payload: Buffer;
}

export interface SessionKeys {
  readonly sealing: Buffer;
  readonly opening: Buffer;
}

export interface Handshaker {
  readonly identity: KeyPair;
  readonly identifier: string;
}

/** Begins: a message for who has `remote` as its public key. Undefined where that key gives nothing. */
export function initiate(
  { identity, identifier }: Handshaker,
  remote: Buffer,
  content: { readonly senderIndex: number; readonly payload: Uint8Array },
  ephemeral: KeyPair = generateKeyPair(),
): { readonly message: Buffer; readonly state: Initiated } | undefined {
  const start = startOf(identifier, remote);
  const chain = kdf(start.chain, ephemeral.publicBytes, 1)[0] ?? Buffer.alloc(0);
  let hash = hashOf(start.hash, ephemeral.publicBytes);
  const first = mixed(chain, sharedSecret(ephemeral.privateKey, remote));
  const second = first && mixed(first.chain, sharedSecret(identity.privateKey, remote));
  if (first === undefined || second === undefined) return undefined;
  const sealedKey = seal(first.key, identity.publicBytes, hash);
  hash = hashOf(hash, sealedKey);
  const sealedPayload = seal(second.key, content.payload, hash);
  hash = hashOf(hash, sealedPayload);
  const body = Buffer.concat([
    header(TYPE_INITIATION, content.senderIndex),
    ephemeral.publicBytes,
    sealedKey,
    sealedPayload,
  ]);
  return { message: withMacs(body, remote), state: { chain: second.chain, hash, ephemeral } };
}

/** Whether a message was written by somebody who knows the public key of this node, which takes but a hash. */
export function isAddressedTo({ identity }: Handshaker, message: Buffer): boolean {
  return (
    message.length >= RESPONSE_BYTES &&
    message.length <= MAX_HANDSHAKE_BYTES &&
    hasRightMac(message, identity.publicBytes)
  );
}

/** The same for a message that somebody repeats, whatever is changed of it that nothing vouches for. */
export function markOf(message: Buffer): string {
  const end = message.length - MAC_BYTES;
  return message.toString("latin1", end - MAC_BYTES, end);
}

/** What an initiation says; undefined where it is none for this node. */
export function readInitiation(
  { identity, identifier }: Handshaker,
  message: Buffer,
): Received | undefined {
  if (message.length < INITIATION_BYTES || !hasRightMac(message, identity.publicBytes)) {
    return undefined;
  }
  const start = startOf(identifier, identity.publicBytes);
  let at = HEADER_BYTES + INDEX_BYTES;
  const ephemeral = Buffer.from(message.subarray(at, at + KEY_BYTES));
  at += KEY_BYTES;
  const sealedKey = message.subarray(at, at + KEY_BYTES + TAG_BYTES);
  at += KEY_BYTES + TAG_BYTES;
  const sealedPayload = message.subarray(at, message.length - 2 * MAC_BYTES);
  const chain = kdf(start.chain, ephemeral, 1)[0] ?? Buffer.alloc(0);
  let hash = hashOf(start.hash, ephemeral);
  const first = mixed(chain, sharedSecret(identity.privateKey, ephemeral));
  const publicKey = first && open(first.key, sealedKey, hash);
  if (publicKey === undefined) return undefined;
  hash = hashOf(hash, sealedKey);
  const second = mixed(first?.chain, sharedSecret(identity.privateKey, publicKey));
  const payload = second && open(second.key, sealedPayload, hash);
  if (second === undefined || payload === undefined) return undefined;
  hash = hashOf(hash, sealedPayload);
  const senderIndex = message.readUInt32LE(HEADER_BYTES);
  return { senderIndex, ephemeral, publicKey, payload, chain: second.chain, hash };
}

/** Answers an initiation. */
export function respond(
  received: Received,
  content: { readonly senderIndex: number; readonly payload: Uint8Array },
  ephemeral: KeyPair = generateKeyPair(),
): { readonly message: Buffer; readonly keys: SessionKeys } | undefined {
  const first = sharedSecret(ephemeral.privateKey, received.ephemeral);
  const second = sharedSecret(ephemeral.privateKey, received.publicKey);
  const agreed = agree(received, ephemeral.publicBytes, first, second);
  if (agreed === undefined) return undefined;
  const sealed = seal(agreed.key, content.payload, agreed.hash);
  const receiver = Buffer.alloc(INDEX_BYTES);
  receiver.writeUInt32LE(received.senderIndex);
  const body = Buffer.concat([
    header(TYPE_RESPONSE, content.senderIndex),
    receiver,
    ephemeral.publicBytes,
    sealed,
  ]);
  const [opening, sealing] = kdf(agreed.chain, Buffer.alloc(0), 2);
  if (opening === undefined || sealing === undefined) return undefined;
  return { message: withMacs(body, received.publicKey), keys: { sealing, opening } };
}

/** The number that the receiver of a response gave in its initiation. */
export function receiverOfResponse(message: Buffer): number | undefined {
  if (message.length < RESPONSE_BYTES) return undefined;
  return message.readUInt32LE(HEADER_BYTES + INDEX_BYTES);
}

/** What a response says; undefined where it is none to this initiation. */
export function readResponse(
  { identity }: Handshaker,
  state: Initiated,
  message: Buffer,
):
  | { readonly senderIndex: number; readonly payload: Buffer; readonly keys: SessionKeys }
  | undefined {
  if (message.length < RESPONSE_BYTES || !hasRightMac(message, identity.publicBytes)) {
    return undefined;
  }
  const at = HEADER_BYTES + 2 * INDEX_BYTES;
  const ephemeral = message.subarray(at, at + KEY_BYTES);
  const first = sharedSecret(state.ephemeral.privateKey, ephemeral);
  const second = sharedSecret(identity.privateKey, ephemeral);
  const agreed = agree(state, ephemeral, first, second);
  if (agreed === undefined) return undefined;
  const sealed = message.subarray(at + KEY_BYTES, message.length - 2 * MAC_BYTES);
  const payload = open(agreed.key, sealed, agreed.hash);
  const [sealing, opening] = kdf(agreed.chain, Buffer.alloc(0), 2);
  if (payload === undefined || opening === undefined || sealing === undefined) return undefined;
  return { senderIndex: message.readUInt32LE(HEADER_BYTES), payload, keys: { sealing, opening } };
}

function startOf(identifier: string, responder: Uint8Array): Transcript {
  const chain = hashOf(Buffer.from(CONSTRUCTION));
  return { chain, hash: hashOf(hashOf(chain, Buffer.from(identifier)), responder) };
}

function mixed(
  chain: Buffer | undefined,
  secret: Buffer | undefined,
): { chain: Buffer; key: Buffer } | undefined {
  if (chain === undefined || secret === undefined) return undefined;
  const [next, key] = kdf(chain, secret, 2);
  return next === undefined || key === undefined ? undefined : { chain: next, key };
}

/** The second half of the handshake, which is the same for both. */
function agree(
  { chain, hash }: Transcript,
  ephemeral: Uint8Array,
  first: Buffer | undefined,
  second: Buffer | undefined,
): { chain: Buffer; hash: Buffer; key: Buffer } | undefined {
  if (first === undefined || second === undefined) return undefined;
  let next = chain;
  for (const input of [ephemeral, first, second]) next = kdf(next, input, 1)[0] ?? next;
  const [last, added, key] = kdf(next, NO_SHARED_KEY, 3);
  if (last === undefined || added === undefined || key === undefined) return undefined;
  return { chain: last, hash: hashOf(hashOf(hash, ephemeral), added), key };
}

function hashOf(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash("blake2s256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** HKDF (RFC 5869) with HMAC-BLAKE2s: so many keys of 32 bytes. */
export function kdf(chain: Uint8Array, input: Uint8Array, count: number): readonly Buffer[] {
  const secret = createHmac("blake2s256", chain).update(input).digest();
  const keys: Buffer[] = [];
  for (let index = 1; index <= count; index += 1) {
    const hmac = createHmac("blake2s256", secret).update(keys.at(-1) ?? Buffer.alloc(0));
    keys.push(hmac.update(Uint8Array.of(index)).digest());
  }
  return keys;
}

const AEAD = { authTagLength: TAG_BYTES } as const;

function seal(key: Buffer, plain: Uint8Array, covered: Buffer): Buffer {
  const cipher = createCipheriv("chacha20-poly1305", key, ZERO_NONCE, AEAD);
  cipher.setAAD(covered, { plaintextLength: plain.length });
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function open(key: Buffer, sealed: Buffer, covered: Buffer): Buffer | undefined {
  const end = sealed.length - TAG_BYTES;
  if (end < 0) return undefined;
  const cipher = createDecipheriv("chacha20-poly1305", key, ZERO_NONCE, AEAD);
  cipher.setAAD(covered, { plaintextLength: end });
  cipher.setAuthTag(sealed.subarray(end));
  try {
    return Buffer.concat([cipher.update(sealed.subarray(0, end)), cipher.final()]);
  } catch {
    return undefined;
  }
}

function header(type: number, senderIndex: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES + INDEX_BYTES);
  bytes[0] = type;
  bytes.writeUInt32LE(senderIndex, HEADER_BYTES);
  return bytes;
}

/** The second authenticator answers a cookie, which nobody here asks for. */
function withMacs(body: Buffer, receiver: Uint8Array): Buffer {
  return Buffer.concat([body, mac1(body, receiver), Buffer.alloc(MAC_BYTES)]);
}

function hasRightMac(message: Buffer, receiver: Uint8Array): boolean {
  const end = message.length - 2 * MAC_BYTES;
  return timingSafeEqual(
    mac1(message.subarray(0, end), receiver),
    message.subarray(end, end + MAC_BYTES),
  );
}

function mac1(body: Buffer, receiver: Uint8Array): Buffer {
  return blake2sMac(hashOf(Buffer.from(LABEL_MAC1), receiver), body, MAC_BYTES);
}
