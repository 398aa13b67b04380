import { expect, onTestFinished, test } from "vitest";
import { requires } from "../../../../test/support/requires.ts";
import { writeGetLink } from "../../../wire/netlink/route/link-codec.ts";
import { NETLINK_ROUTE } from "../../../wire/netlink/route/route-words.ts";
import { NetlinkSocket } from "./netlink-socket.ts";

const MANY = 100_000;
/** Their answers fill the buffer of a socket more than once. */
const TOO_MANY = 10_000;

test("exchanges in a row let others run", requires("linux"), async () => {
  const socket = new NetlinkSocket(NETLINK_ROUTE);
  onTestFinished(() => socket.close());
  const ask = () =>
    socket.exchange({
      count: 1,
      write: (writer, sequence) => writeGetLink(writer, sequence, "lo"),
    });
  await ask();
  let turns = 0;
  const turned = (): void => {
    turns += 1;
    if (turns < 3) setImmediate(turned);
  };
  setImmediate(turned);
  let exchanges = 0;
  for (; turns < 3 && exchanges < MANY; exchanges += 1) await ask();
  expect(exchanges).toBeLessThan(MANY);
});

test(
  "a socket that is closed while an exchange waits for its turn is not used",
  requires("linux"),
  async () => {
    const socket = new NetlinkSocket(NETLINK_ROUTE);
    const asked = socket.exchange({
      count: 1,
      write: (writer, sequence) => writeGetLink(writer, sequence, "lo"),
    });
    socket.close();
    await expect(asked).rejects.toThrow("closed");
  },
);

test(
  "answers that are too many are told, and do not cost the next one",
  requires("linux"),
  async () => {
    const socket = new NetlinkSocket(NETLINK_ROUTE);
    onTestFinished(() => socket.close());
    const ask = (count: number) =>
      socket.exchange({
        count,
        write: (writer, first) => {
          for (let index = 0; index < count; index += 1) writeGetLink(writer, first + index, "lo");
        },
      });
    expect(await ask(TOO_MANY)).toMatchObject({ isOverrun: true });
    expect(await ask(1)).toMatchObject({ isOverrun: false, failures: [] });
  },
);
