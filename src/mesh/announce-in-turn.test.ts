import { expect, test } from "vitest";
import { GlobalStore } from "../core/store/global-store.ts";
import { announceInTurn } from "./announce-in-turn.ts";
import type { AnnouncementState } from "./announcer.ts";
import { createLocalAnnouncer } from "./local-announcer.ts";

const WORLD = { random: () => 0, sleep: async () => undefined };
const PLACE = { service: "default/shop", servicePort: "", zone: "", node: "n1", weight: 10 };

function open() {
  const store = new GlobalStore();
  const announcer = announceInTurn(createLocalAnnouncer(store, WORLD));
  const begin = (address: string) => {
    const states: AnnouncementState[] = [];
    const end = new AbortController();
    const instance = { ...PLACE, address, port: 80 };
    const over = announcer.announce(instance, (state) => states.push(state), end.signal);
    const stop = async () => {
      end.abort();
      await over;
    };
    return { states, stop };
  };
  const names = () =>
    (store.state().groups.get("default/shop")?.endpoints ?? []).map(({ name }) => name);
  return { begin, names };
}

test("who comes second says so, and takes over when the first ends", async () => {
  const { begin, names } = open();
  const [first, second] = [begin("10.0.0.1"), begin("10.0.0.1")];
  expect(first.states).toEqual([{ isMade: true, problem: "" }]);
  expect(second.states).toMatchObject([
    { isMade: false, problem: expect.stringContaining("10.0.0.1:80 of service default/shop") },
  ]);
  await first.stop();
  await expect.poll(() => second.states.at(-1)).toEqual({ isMade: true, problem: "" });
  expect(names()).toEqual(["10.0.0.1:80"]);
  await second.stop();
  expect(names()).toEqual([]);
});

test("the end of one that waits withdraws nothing", async () => {
  const { begin, names } = open();
  const [first, second, other] = [begin("10.0.0.1"), begin("10.0.0.1"), begin("10.0.0.2")];
  await second.stop();
  expect(names()).toEqual(["10.0.0.1:80", "10.0.0.2:80"]);
  await Promise.all([first.stop(), other.stop()]);
  expect(names()).toEqual([]);
});
