import { expect, test } from "vitest";
import { probeEdge } from "./probe.ts";

const GOOD = { canOpen: () => true, nftVersion: async () => "1.0.6" };
const ROOT = { os: "linux", isRoot: true } as const;

test("works with root, nft and a device for tunnels", async () => {
  expect(await probeEdge(ROOT, GOOD)).toEqual([]);
});

test("says what is missing, and what to do", async () => {
  const bare = { canOpen: () => false, nftVersion: () => Promise.reject(new Error("ENOENT")) };
  const remedies = async (...args: Parameters<typeof probeEdge>) =>
    (await probeEdge(...args)).map(({ severity, remedy }) => `${severity}: ${remedy}`);
  expect(await remedies(ROOT, bare)).toEqual([
    "missing: install the package nftables",
    "missing: modprobe tun; in a container give it /dev/net/tun",
  ]);
  expect(await remedies({ ...ROOT, isRoot: false }, GOOD)).toEqual(["missing: run it as root"]);
  expect(await remedies({ os: "win32", isRoot: false }, GOOD)).toEqual(["missing: use Linux"]);
});
