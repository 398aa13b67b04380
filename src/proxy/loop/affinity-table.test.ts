import { expect, test } from "vitest";
import { AffinityTable } from "./affinity-table.ts";
import type { ServerId } from "./engine-messages.ts";

const server = (address: string): ServerId => ({ group: "g", member: address, address, port: 80 });

function table(timeoutMs = 1000): { table: AffinityTable; setNow: (ms: number) => void } {
  let nowMs = 0;
  const made = new AffinityTable(() => nowMs);
  made.setTimeoutMs(timeoutMs);
  return {
    table: made,
    setNow: (ms) => {
      nowMs = ms;
    },
  };
}

test("a client stays until it has not come for the time-out", () => {
  const { table: stays, setNow } = table();
  stays.note("c", server("10.0.0.1"));
  setNow(900);
  expect(stays.find("c")?.address).toBe("10.0.0.1");
  stays.note("c", server("10.0.0.1"));
  setNow(1899);
  expect(stays.find("c")?.address).toBe("10.0.0.1");
  setNow(1900);
  expect(stays.find("c")).toBeUndefined();
  expect(stays.size).toBe(0);
});

test("others are told of news, and of what is old, not of every connection", () => {
  const { table: stays, setNow } = table();
  expect(stays.note("c", server("10.0.0.1"))).toBe(true);
  setNow(249);
  expect(stays.note("c", server("10.0.0.1"))).toBe(false);
  setNow(250);
  expect(stays.note("c", server("10.0.0.1"))).toBe(true);
  expect(stays.note("c", server("10.0.0.2"))).toBe(true);
});

test("two loops that chose at once agree on the smaller key, whoever hears first", () => {
  const [one, other] = [table().table, table().table];
  one.note("c", server("10.0.0.1"));
  other.note("c", server("10.0.0.2"));
  one.noteElsewhere("c", server("10.0.0.2"));
  other.noteElsewhere("c", server("10.0.0.1"));
  expect([one.find("c")?.address, other.find("c")?.address]).toEqual(["10.0.0.1", "10.0.0.1"]);
});

test("later the one that is heard of counts: the old server is gone", () => {
  const { table: stays, setNow } = table(60_000);
  stays.note("c", server("10.0.0.1"));
  setNow(5000);
  stays.noteElsewhere("c", server("10.0.0.2"));
  expect(stays.find("c")?.address).toBe("10.0.0.2");
});

test("without a time-out nothing is remembered", () => {
  const { table: stays } = table();
  stays.note("c", server("10.0.0.1"));
  stays.setTimeoutMs(0);
  stays.note("d", server("10.0.0.1"));
  expect(stays.size).toBe(0);
});
