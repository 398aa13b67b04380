import { expect, test } from "vitest";
import type { OwnRules } from "../platform/linux/onlookers.ts";
import { NO_ONLOOKER } from "./no-fast-world.fixture.ts";
import { type FastProspect, previewFast } from "./preview-fast.ts";

const OWN: OwnRules = { isOwnTable: () => false, isOwnRule: () => false };
const LINKS: FastProspect = { kind: "links", names: ["eth0", "cali1"] };

const worldWith = (
  prospect: FastProspect,
  onlooker?: string,
  sysctls: Readonly<Record<string, string>> = {},
) => ({
  probeFast: async () => prospect,
  findOnlooker: onlooker === undefined ? NO_ONLOOKER : async () => onlooker,
  sysctl: { read: async (name: string) => sysctls[name] },
});

test.each([
  ["eth0, cali1", LINKS],
  ["links that come", { kind: "links", names: [] } as const],
])("says at which links programs would be: %s", async (words, prospect) => {
  const world = worldWith(prospect);
  const would = "would let packets of TCP connections that it translates pass without the rules";
  expect(await previewFast("on", OWN, world)).toEqual([`${would}: ${words}`]);
  expect(await previewFast("auto", OWN, world)).toEqual([
    `${would}, while much is forwarded: ${words}`,
  ]);
});

test("says why there would be none, and nothing where none is wanted", async () => {
  const world = worldWith({ kind: "obstacle", what: "Linux 5", remedy: "boot 6.6" });
  expect(await previewFast("auto", OWN, world)).toEqual([
    "would have no fast path: Linux 5; boot 6.6",
  ]);
  expect(await previewFast("on", OWN, world)).toEqual([
    "would not start: --fast-path on: Linux 5; boot 6.6",
  ]);
  expect(await previewFast("off", OWN, world)).toEqual([]);
});

test("says who would miss packets, unless it is asked for", async () => {
  const world = worldWith(LINKS, "rules of others in chain forward of table inet fw");
  expect(await previewFast("auto", OWN, world)).toEqual([
    "would have no fast path: packets would be missed by rules of others in chain forward of table inet fw; --fast-path on has them pass all the same",
  ]);
  expect(await previewFast("on", OWN, world)).toHaveLength(1);
  expect((await previewFast("on", OWN, world))[0]).toContain("eth0, cali1");
});

test("says that flows are accounted for", async () => {
  const world = worldWith(LINKS, undefined, { "net.netfilter.nf_conntrack_acct": "1" });
  expect(await previewFast("auto", OWN, world)).toEqual([
    "would have no fast path: packets would be missed by the accounting of tracked flows (net.netfilter.nf_conntrack_acct is 1); --fast-path on has them pass all the same",
  ]);
});
