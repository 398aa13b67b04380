import { expect, test } from "vitest";
import { answerFrom } from "./packet-info.ts";

/** As the kernel gives them: length, level, type, then the address and the interface. */
const V4 = "1c00000000000000 00000000 08000000 03000000 c0000207 c0000207 00000000";
const v6 = (address: string): string =>
  `2400000000000000 29000000 32000000 ${address} 03000000 00000000`;
const GLOBAL = "20010db8000000000000000000000007";
const LINK_LOCAL = "fe800000000000000000000000000007";

function answerTo(hex: string): string | undefined {
  const control = Buffer.from(hex.replaceAll(" ", ""), "hex");
  const answer = answerFrom(control);
  return answer && Buffer.from(answer.bytes).toString("hex");
}

const plain = (hex: string): string => hex.replaceAll(" ", "");

test("an answer goes out from the address that was called, by whichever interface", () => {
  expect(answerTo(V4)).toBe(plain(V4.replace("03000000", "00000000")));
  expect(answerTo(v6(GLOBAL))).toBe(plain(v6(GLOBAL).replace("03000000", "00000000")));
});

test("a link-local address keeps its interface", () => {
  expect(answerTo(v6(LINK_LOCAL))).toBe(plain(v6(LINK_LOCAL)));
});

test("nothing goes out from a group, nor from an address that was not told", () => {
  expect(answerTo(v6("ff0200000000000000000000000000fb"))).toBeUndefined();
  expect(answerTo("")).toBeUndefined();
});
