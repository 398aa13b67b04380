import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { generateKeyPair, keyPairOf } from "../../platform/x25519.ts";
import { blake2sMac } from "./blake2s-mac.ts";
import { initiate, kdf, readInitiation, readResponse, respond } from "./noise-ik.ts";

const IDENTIFIER = "WireGuard v1 zx2c4 Jason@zx2c4.com";

test("BLAKE2s without a key is the one of Node", () => {
  for (const length of [0, 1, 63, 64, 65, 128, 300]) {
    const message = randomBytes(length);
    const expected = createHash("blake2s256").update(message).digest();
    expect(blake2sMac(new Uint8Array(0), message, 32)).toEqual(expected);
  }
});

/** The first ones of blake2-kat.json, the known answers of BLAKE2's authors, with the key 00 01 ... 1f. */
test.each([
  [0, "48a8997da407876b3d79c0d92325ad3b89cbb754d86ab71aee047ad345fd2c49"],
  [1, "40d15fee7c328830166ac3f918650f807e7e01e177258cdc0a39b11f598066f1"],
  [2, "6bb71300644cd3991b26ccd4d274acd1adeab8b1d7914546c1198bbe9fc9d803"],
])("BLAKE2s with a key, %i bytes", (length, expected) => {
  const bytes = Uint8Array.from({ length: 32 }, (_, index) => index);
  expect(blake2sMac(bytes, bytes.subarray(0, length), 32).toString("hex")).toBe(expected);
});

/** Of wireguard-go's kdf_test.go. */
test.each([
  [
    "746573742d6b6579",
    "746573742d696e707574",
    [
      "6f0e5ad38daba1bea8a0d213688736f19763239305e0f58aba697f9ffc41c633",
      "df1194df20802a4fe594cde27e92991c8cae66c366e8106aaa937a55fa371e8a",
      "fac6e2745a325f5dc5d11a5b165aad08b0ada28e7b4e666b7c077934a4d76c24",
    ],
  ],
  [
    "776972656775617264",
    "776972656775617264",
    [
      "491d43bbfdaa8750aaf535e334ecbfe5129967cd64635101c566d4caefda96e8",
      "1e71a379baefd8a79aa4662212fcafe19a23e2b609a3db7d6bcba8f560e3d25f",
      "31e1ae48bddfbe5de38f295e5452b1909a1b4e38e183926af3780b0c1e1f0160",
    ],
  ],
])("keys are derived as WireGuard does", (key, input, expected) => {
  const keys = kdf(Buffer.from(key, "hex"), Buffer.from(input, "hex"), 3);
  expect(keys.map((each) => each.toString("hex"))).toEqual(expected);
});

test("two nodes agree on keys, and learn what the other said", () => {
  const [a, b] = [generateKeyPair(), generateKeyPair()];
  const [from, to] = [a, b].map((identity) => ({ identity, identifier: IDENTIFIER }));
  if (from === undefined || to === undefined) throw new Error("no handshakers");
  const begun = initiate(from, b.publicBytes, { senderIndex: 7, payload: Buffer.alloc(12, 1) });
  expect(begun?.message).toHaveLength(148);
  const received = begun && readInitiation(to, begun.message);
  expect(received).toMatchObject({ senderIndex: 7, publicKey: a.publicBytes });
  expect(received?.payload).toEqual(Buffer.alloc(12, 1));
  const answer = received && respond(received, { senderIndex: 9, payload: Buffer.alloc(0) });
  expect(answer?.message).toHaveLength(92);
  const read = begun && answer && readResponse(from, begun.state, answer.message);
  expect(read?.senderIndex).toBe(9);
  expect(read?.keys.sealing).toEqual(answer?.keys.opening);
  expect(read?.keys.opening).toEqual(answer?.keys.sealing);
});

test("a message with any byte changed is no message", () => {
  const [a, b] = [generateKeyPair(), generateKeyPair()];
  const from = { identity: a, identifier: IDENTIFIER };
  const to = { identity: b, identifier: IDENTIFIER };
  const begun = initiate(from, b.publicBytes, { senderIndex: 1, payload: Buffer.alloc(12) });
  if (begun === undefined) throw new Error("nothing was begun");
  for (let at = 0; at < begun.message.length - 16; at += 1) {
    const changed = Buffer.from(begun.message);
    changed[at] = (changed[at] ?? 0) ^ 0x40;
    expect(readInitiation(to, changed)).toBeUndefined();
  }
  expect(readInitiation({ ...to, identifier: "another" }, begun.message)).toBeUndefined();
  expect(readInitiation(from, begun.message)).toBeUndefined();
  const other = { ...to, identity: generateKeyPair() };
  expect(readInitiation(other, begun.message)).toBeUndefined();
});

test("a key that gives nothing is refused", () => {
  const from = { identity: keyPairOf(randomBytes(32)), identifier: IDENTIFIER };
  const content = { senderIndex: 1, payload: Buffer.alloc(12) };
  expect(initiate(from, Buffer.alloc(32), content)).toBeUndefined();
});
