import { expect, test } from "vitest";
import { ERRNO } from "../../errno.ts";
import { dumpAll } from "./dump-all.ts";
import { FakeDumpSocket } from "./fake-dump-socket.fixture.ts";
import type { NetlinkAnswer } from "./netlink-socket.ts";

const INTERRUPTED = { isInterrupted: true };

/** Each dump tells one item, the number of the dump. */
function dump(...answers: readonly Partial<NetlinkAnswer>[]) {
  const socket = new FakeDumpSocket(answers, new Uint8Array());
  return {
    socket,
    done: dumpAll(
      socket,
      "listing things",
      () => undefined,
      () => socket.count,
    ),
  };
}

test("a dump of one moment is taken as it is", async () => {
  const { socket, done } = dump({});
  expect(await done).toEqual({ items: [1], isWhole: true });
  expect(socket.count).toBe(1);
});

test("one that changed meanwhile is repeated, and nothing is kept of it", async () => {
  expect(await dump(INTERRUPTED, {}).done).toEqual({ items: [2], isWhole: true });
  expect(await dump(INTERRUPTED, INTERRUPTED, INTERRUPTED, INTERRUPTED, {}).done).toEqual({
    items: [5],
    isWhole: true,
  });
});

test("one that changes all the time is given up, and said not to be whole", async () => {
  const { socket, done } = dump(INTERRUPTED);
  expect(await done).toEqual({ items: [5], isWhole: false });
  expect(socket.count).toBe(5);
});

test("what the kernel refuses, and answers that were lost, are errors", async () => {
  const words = { text: "", refusedAt: undefined, missingType: undefined };
  const refused = { failures: [{ index: 0, sequence: 1, errno: ERRNO.EPERM, ...words }] };
  await expect(dump(refused).done).rejects.toMatchObject({
    code: "ERR_SYSTEM_CALL",
    message: "listing things failed: EPERM",
  });
  await expect(dump({ isOverrun: true }).done).rejects.toMatchObject({
    code: "ERR_SYSTEM_CALL",
    message: "the kernel's answer to a netlink request was lost",
  });
});
