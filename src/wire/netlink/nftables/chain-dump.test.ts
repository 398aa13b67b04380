import { expect, test } from "vitest";
import { parseBaseChain } from "./chain-dump.ts";

function parse(hex: string) {
  const bytes = Buffer.from(hex.replaceAll(/\s/g, ""), "hex");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return parseBaseChain(view, 0, bytes.length);
}

/** struct nfgenmsg, then attributes: table `fw`, name `f`, as the kernel writes them. */
const NAMES = "0700 0100 6677 0000  0600 0300 6600 0000";
/** Hook 2 with priority 0. */
const HOOK = "1400 0480  0800 0100 0000 0002  0800 0200 0000 0000";
const TYPE = "0b00 0700 6669 6c74 6572 0000";
const USE = "0800 0600 0000 0003";

test("reads a chain that packets come to", () => {
  expect(parse(`01000000 ${NAMES} ${HOOK} ${TYPE} ${USE}`)).toEqual({
    family: "inet",
    table: "fw",
    name: "f",
    type: "filter",
    hook: 2,
    ruleCount: 3,
  });
});

test("passes over one that rules lead to, and families that nobody knows", () => {
  expect(parse(`02000000 ${NAMES} ${USE}`)).toBeUndefined();
  expect(parse(`63000000 ${NAMES} ${HOOK} ${TYPE} ${USE}`)).toBeUndefined();
});
