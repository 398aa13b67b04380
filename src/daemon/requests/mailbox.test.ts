import { expect, test } from "vitest";
import { Mailbox } from "./mailbox.ts";

test("items come in order, those that wait and those that come later, until the signal ends it", async () => {
  const ended = new AbortController();
  const mailbox = new Mailbox<number>({ limit: 10, signal: ended.signal });
  mailbox.put(1);
  mailbox.put(2);
  const seen: number[] = [];
  for await (const item of mailbox) {
    seen.push(item);
    if (item === 2) queueMicrotask(() => mailbox.put(3));
    if (item === 3) queueMicrotask(() => ended.abort());
  }
  expect(seen).toEqual([1, 2, 3]);
  mailbox.put(4);
});

test("one that nobody reads is ended when it is full", async () => {
  const mailbox = new Mailbox<number>({ limit: 2, signal: new AbortController().signal });
  for (const item of [1, 2, 3, 4]) mailbox.put(item);
  const read = async (): Promise<void> => {
    for await (const _ of mailbox);
  };
  await expect(read()).rejects.toMatchObject({
    code: "ERR_INSTANCE",
    message: "more than 2 items waited to be read",
  });
});
