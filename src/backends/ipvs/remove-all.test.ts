import { expect, test } from "vitest";
import type { Log } from "../../core/log.ts";
import type { VirtualServer } from "../../wire/netlink/ipvs/virtual-server.ts";
import { setsOf } from "./glue/set-names.ts";
import { createFakeKernel, createFakePlatform } from "./kernel/fake-platform.fixture.ts";
import type { IpvsPlatform } from "./kernel/platform.ts";
import { removeAll } from "./remove-all.ts";

const BALANCING = { scheduler: "rr", flags: 0, persistenceSeconds: 0 } as const;
const OUR_MARK = 0x2000_0007;
const silent = (): void => undefined;

/** Cleans up where 192.0.2.0/24 is of others, and gives what is told. */
async function clean(platform: IpvsPlatform): Promise<readonly string[]> {
  const told: string[] = [];
  const warn: Log["warn"] = (_, message) => void told.push(message);
  await removeAll({
    world: {
      exec: { run: async () => ({ exitCode: 0, stdout: "", stderr: "" }) },
      isIptablesRunning: () => false,
    },
    platform,
    settings: { isExcluded: (ip) => ip.startsWith("192.0.2.") },
    log: { debug: silent, info: silent, warn, error: silent },
  });
  return told;
}

test("virtual servers in excluded networks and by marks that are given to no packet of ours stay", async () => {
  const kernel = createFakeKernel();
  const platform = createFakePlatform(kernel);
  const places = [
    { protocol: "TCP", ip: "10.96.0.10", port: 80 },
    { protocol: "TCP", ip: "192.0.2.1", port: 80 },
    { mark: 77 },
    { mark: OUR_MARK },
    { mark: OUR_MARK + 0x4000 },
    { mark: OUR_MARK + 1 },
  ] as const;
  await platform.ipvs.change(
    places.map((place): { kind: "newService"; server: VirtualServer } => ({
      kind: "newService",
      server: { family: "v4", place, ...BALANCING },
    })),
  );
  const entry = { ip: "203.0.113.1", protocol: "TCP", port: 80, mark: OUR_MARK } as const;
  await platform.sets.change([{ kind: "add", set: setsOf("v4").inside, entry }]);
  expect(await clean(platform)).toEqual([]);
  expect([...kernel.servers.values()].map(({ place }) => place)).toEqual([
    places[1],
    places[2],
    places[5],
  ]);
});

test("the link stays with addresses of others on it, and that is told", async () => {
  const kernel = createFakeKernel();
  const platform = createFakePlatform(kernel);
  for (const ip of ["10.96.0.10", "192.0.2.7", "fd00:96::10"]) kernel.addresses.add(ip);
  expect(await clean(platform)).toEqual([
    "kube-ipvs0 stays: 192.0.2.7 on it is of --ipvs-exclude-cidrs",
  ]);
  expect([...kernel.addresses]).toEqual(["192.0.2.7"]);
  kernel.addresses.delete("192.0.2.7");
  expect(await clean(platform)).toEqual([]);
});

test("in a kernel that knows no sets nothing is said of them", async () => {
  const { sets, ...fake } = createFakePlatform(createFakeKernel());
  const change: typeof sets.change = async (changes) => {
    if (changes.length > 0) throw new Error("there are no sets");
    return [];
  };
  const entries = async () => undefined;
  expect(await clean({ ...fake, sets: { ...sets, entries, change } })).toEqual([]);
});
