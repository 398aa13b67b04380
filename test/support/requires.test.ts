import { expect, test } from "vitest";
import { type Machine, requiresOn } from "./requires.ts";

const BARE: Machine = { platform: "linux", uid: 1000, hasProgram: () => false };

test("asks for nothing where everything is there", () => {
  const machine: Machine = { platform: "linux", uid: 0, hasProgram: (name) => name === "openssl" };
  expect(requiresOn(machine, ["linux", "root", "openssl"])).toEqual({});
});

test("skips with every missing thing and its remedy", () => {
  expect(requiresOn(BARE, ["linux", "root", "openssl"])).toEqual({
    skip: true,
    meta: {
      skipReason: "needs root (run the tests as root), needs openssl (apt-get install openssl)",
    },
  });
});
