import { expect, test } from "vitest";
import { keyPairOf } from "../../platform/x25519.ts";
import { initiate, readInitiation, readResponse, respond } from "./noise-nn.ts";
import { createNodeSealer } from "./sealer.ts";

const hex = (text: string): Buffer => Buffer.from(text, "hex");

/** The published vector of cacophony for this construction. */
const PROLOGUE = hex("4a6f686e2047616c74");
const SHARED_KEY = hex("54686973206973206d7920417573747269616e20706572737065637469766521");
const INITIATOR = keyPairOf(
  hex("893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a"),
);
const RESPONDER = keyPairOf(
  hex("bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b"),
);
const FIRST = hex("4c756477696720766f6e204d69736573");
const SECOND = hex("4d757272617920526f746862617264");

test("the handshake and the first messages are those of the published vector", () => {
  const { message, state } = initiate(SHARED_KEY, PROLOGUE, FIRST, INITIATOR);
  expect(message.toString("hex")).toBe(
    "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c794479b962b8aff8485742ac32f905ba45369e2465fb59e138a93d67a0d1266b6a54",
  );
  const received = readInitiation(SHARED_KEY, PROLOGUE, message);
  expect(received?.payload).toEqual(FIRST);
  const answer = received && respond(received, SECOND, RESPONDER);
  expect(answer?.message.toString("hex")).toBe(
    "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f144808843d6062704d5a9c422a8e834423f8c1feada7e8d0d910a1a2cd030fb584221e3",
  );
  if (answer === undefined) return;
  const agreed = readResponse(state, answer.message);
  expect(agreed?.payload).toEqual(SECOND);
  if (agreed === undefined) return;
  const [one, other] = [createNodeSealer(agreed.keys), createNodeSealer(answer.keys)];
  const plain = hex("462e20412e20486179656b");
  const region = { bytes: new Uint8Array(64), address: 0 };
  region.bytes.set(plain, 3);
  one.seal(0, region, 3, plain.length);
  expect(Buffer.from(region.bytes.subarray(3, 3 + plain.length + 16)).toString("hex")).toBe(
    "e632c3763d7669067383433197a3baddf146e9e70ad4b4e9e59e0f",
  );
  expect(other.open(1, region, 3, plain.length)).toBe(false);
  expect(other.open(0, region, 3, plain.length)).toBe(true);
  expect(Buffer.from(region.bytes.subarray(3, 3 + plain.length))).toEqual(plain);
});

test("another key, another prologue and changed bytes are refused", () => {
  const { message, state } = initiate(SHARED_KEY, PROLOGUE, FIRST);
  const otherKey = Buffer.from(SHARED_KEY);
  otherKey[0] = (otherKey[0] ?? 0) ^ 1;
  expect(readInitiation(otherKey, PROLOGUE, message)).toBeUndefined();
  expect(readInitiation(SHARED_KEY, Buffer.from("x"), message)).toBeUndefined();
  for (let at = 0; at < message.length; at += 1) {
    const changed = Buffer.from(message);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(readInitiation(SHARED_KEY, PROLOGUE, changed)).toBeUndefined();
  }
  const received = readInitiation(SHARED_KEY, PROLOGUE, message);
  const answer = received && respond(received, SECOND);
  expect(answer).toBeDefined();
  const forged = Buffer.from(answer?.message ?? "");
  forged[40] = (forged[40] ?? 0) ^ 1;
  expect(readResponse(state, forged)).toBeUndefined();
  expect(readResponse(state, forged.subarray(0, 20))).toBeUndefined();
});
