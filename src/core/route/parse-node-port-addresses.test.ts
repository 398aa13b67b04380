import { expect, test } from "vitest";
import { parseNodePortAddresses } from "./parse-node-port-addresses.ts";

test.each(["primary", "all", "localhost"])("the word %s is itself", (word) => {
  expect(parseNodePortAddresses(word)).toBe(word);
});

test("networks are read in one spelling", () => {
  expect(parseNodePortAddresses("10.1.2.3/8, fd00:0::/8")).toEqual(["10.0.0.0/8", "fd00::/8"]);
});

test.each(["", "some", "10.0.0.0/33", "10.0.0.0/8,", "10.0.0.0/8,x"])("%o is neither", (text) => {
  expect(parseNodePortAddresses(text)).toBeUndefined();
});
