import { expect, test } from "vitest";
import { FakeDumpSocket } from "../netlink/fake-dump-socket.fixture.ts";
import { BASE_CHAINS } from "./base-chains.ts";
import { listNft } from "./list-nft.ts";

/** Family inet, table `fw`, name `f`, hook 2 with priority 0, type filter, 3 rules; as the kernel writes it. */
const CHAIN = Buffer.from(
  [
    "01000000 0700010066770000 0600030066000000 14000480 0800010000000002 0800020000000000",
    "0b00070066696c7465720000 0800060000000003",
  ]
    .join("")
    .replaceAll(" ", ""),
  "hex",
);

test("lists what one dump tells, and closes the socket", async () => {
  const socket = new FakeDumpSocket([{ isInterrupted: true }, {}], CHAIN);
  expect(await listNft(BASE_CHAINS, () => socket)).toEqual([
    { family: "inet", table: "fw", name: "f", type: "filter", hook: 2, ruleCount: 3 },
  ]);
  expect([socket.count, socket.isOpen]).toEqual([2, false]);
});

test("a list that some may be missing of is none: who is not seen may be there", async () => {
  const socket = new FakeDumpSocket([{ isInterrupted: true }], CHAIN);
  await expect(listNft(BASE_CHAINS, () => socket)).rejects.toMatchObject({
    code: "ERR_SYSTEM_CALL",
    message: "listing chains: others change rules all the time",
  });
  expect(socket.isOpen).toBe(false);
});
