import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import { probeEdge } from "./probe.ts";

const GOOD = { canOpen: () => true, nftVersion: async () => "1.0.6" };
const ROOT = { os: "linux", isRoot: true } as const;

test("works with root, nft and a device for tunnels", async () => {
  expect(await probeEdge(ROOT, GOOD)).toEqual([]);
});

test("says what is missing, and what to do", async () => {
  const noNft = new CoreError("ERR_NOT_POSSIBLE_HERE", "nft: there is no such program");
  const bare = { canOpen: () => false, nftVersion: () => Promise.reject(noNft) };
  const remedies = async (...args: Parameters<typeof probeEdge>) =>
    (await probeEdge(...args)).map(({ severity, remedy }) => `${severity}: ${remedy}`);
  expect(await remedies(ROOT, bare)).toEqual([
    "missing: install it: apt-get install nftables, dnf install nftables",
    "missing: modprobe tun; in a container give it /dev/net/tun",
  ]);
  expect(await remedies({ ...ROOT, isRoot: false }, GOOD)).toEqual(["missing: run it as root"]);
  expect(await remedies({ os: "win32", isRoot: false }, GOOD)).toEqual(["missing: use Linux"]);
});

test("an nft that does not work is not told to be missing", async () => {
  const crash = new CoreError("ERR_PROGRAM_FAILED", "nft --version: was ended by SIGSEGV");
  const world = { ...GOOD, nftVersion: () => Promise.reject(crash) };
  expect(await probeEdge(ROOT, world)).toMatchObject([
    { what: "the program nft does not work: nft --version: was ended by SIGSEGV" },
  ]);
});
