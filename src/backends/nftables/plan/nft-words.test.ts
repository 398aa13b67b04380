import { describe, expect, test } from "vitest";
import { classId, parseClassId } from "./class-id.ts";
import { memberIds } from "./member-ids.ts";
import { networkSet, outermostNetworks } from "./network-set.ts";
import { nftDuration } from "./nft-duration.ts";

test("numbers as class ids, and back", () => {
  expect([1, 10, 65_536, 0x7fff_ffff].map(classId)).toEqual(["0:1", "0:a", "1:0", "7fff:ffff"]);
  expect(["0:1", "0:a", "1:0", "7fff:ffff", "none"].map(parseClassId)).toEqual([
    1,
    10,
    65_536,
    0x7fff_ffff,
    undefined,
  ]);
});

test("durations as nft lists them", () => {
  expect([1, 90, 3600, 10_800, 5400, 86_400].map(nftDuration)).toEqual([
    "1s",
    "1m30s",
    "1h",
    "3h",
    "1h30m",
    "1d",
  ]);
});

describe("networks", () => {
  test("one stands for itself, several in braces", () => {
    expect(networkSet(["10.0.0.0/8"])).toBe("10.0.0.0/8");
    expect(networkSet(["fd00::5/128"])).toBe("fd00::5");
    expect(networkSet(["192.0.2.1", "10.0.0.0/8"])).toBe("{ 10.0.0.0/8, 192.0.2.1 }");
  });

  test("those inside others are left out", () => {
    const networks = ["10.1.0.0/16", "10.0.0.0/8", "10.0.0.0/8", "10.2.3.4", "9.0.0.0/8"];
    expect(outermostNetworks(networks)).toEqual(["9.0.0.0/8", "10.0.0.0/8"]);
  });
});

describe("numbers of members", () => {
  test("stay the same while others come and go", () => {
    const alone = memberIds(["10.0.0.1 . 80"]).get("10.0.0.1 . 80");
    const among = memberIds(["10.0.0.2 . 80", "10.0.0.1 . 80", "10.0.0.3 . 80"]);
    expect(among.get("10.0.0.1 . 80")).toBe(alone);
    expect(new Set(among.values()).size).toBe(3);
  });
});
