import { decode } from "dns-packet";
import { expect, test } from "vitest";
import type { NamedService } from "../table/name-meaning.ts";
import { EdgeNames } from "./edge-names.ts";
import { localNames, MAX_LOCAL_NAMES } from "./local-names.ts";
import { MdnsAnnouncer, REPEAT_MS } from "./mdns-announcer.ts";

type Services = Readonly<Record<string, readonly string[]>>;

/** Of services by name, with the addresses of each. */
function namesOf(services: Services) {
  const index = new Map(
    Object.entries(services).map(([name, ips]): [string, NamedService] => [
      name,
      {
        addresses: ips.map((address) => ({ address, policy: "round-robin", instance: -1 })),
        instances: [{ number: 0, addresses: ["10.18.0.66"] }],
      },
    ]),
  );
  return localNames(index, new EdgeNames({ serviceNamed: (name) => index.get(name) }));
}

/** What the link hears: `NAME TYPE ADDRESS TTL`, with `!` where others are to be forgotten. */
function heard(messages: readonly Buffer[]): readonly string[] {
  return messages.flatMap((bytes) => {
    const { type, id, answers = [] } = decode(bytes);
    expect([type, id, bytes.length <= 1232]).toEqual(["response", 0, true]);
    return answers.map((answer) =>
      answer.type === "A" || answer.type === "AAAA"
        ? `${answer.name} ${answer.type} ${answer.data} ${answer.ttl}${answer.flush ? "!" : ""}`
        : "",
    );
  });
}

const WEB = { web: ["10.30.0.1", "fdff::1"] };
const TOLD = [
  "web.local A 10.30.0.1 5!",
  "web.local AAAA fdff::1 5!",
  "rr.web.local A 10.30.0.1 5!",
  "rr.web.local AAAA fdff::1 5!",
  "0.web.local A 10.18.0.66 5!",
];

test("names are told twice, a second apart, and then no more", () => {
  const announcer = new MdnsAnnouncer();
  expect([...heard(announcer.next(namesOf(WEB), 0))].sort()).toEqual([...TOLD].sort());
  expect(announcer.dueMs).toBe(REPEAT_MS);
  expect(announcer.next(namesOf(WEB), REPEAT_MS - 1)).toEqual([]);
  expect(heard(announcer.next(namesOf(WEB), REPEAT_MS))).toHaveLength(TOLD.length);
  expect(announcer.dueMs).toBeUndefined();
  expect(announcer.next(namesOf(WEB), 10 * REPEAT_MS)).toEqual([]);
});

test("another address is told and takes the place of the one before; a family that is gone is taken back", () => {
  const announcer = new MdnsAnnouncer();
  announcer.next(namesOf(WEB), 0);
  announcer.next(namesOf(WEB), REPEAT_MS);
  expect(heard(announcer.next(namesOf({ web: ["10.30.0.9"] }), 5000))).toEqual([
    "web.local AAAA fdff::1 0",
    "rr.web.local AAAA fdff::1 0",
    "web.local A 10.30.0.9 5!",
    "rr.web.local A 10.30.0.9 5!",
  ]);
  expect(announcer.dueMs).toBe(5000 + REPEAT_MS);
});

test("a name that is gone is taken back once, also where it was to be told again", () => {
  const announcer = new MdnsAnnouncer();
  announcer.next(namesOf({ ...WEB, db: ["10.30.0.2"] }), 0);
  const gone = heard(announcer.next(namesOf({ db: ["10.30.0.2"] }), 1));
  expect([...gone].sort()).toEqual(TOLD.map((line) => line.replace("5!", "0")).sort());
  expect(heard(announcer.next(namesOf({ db: ["10.30.0.2"] }), REPEAT_MS)).join()).not.toContain(
    "web",
  );
  expect(announcer.next(new Map(), 2 * REPEAT_MS)).toHaveLength(1);
  expect([announcer.next(new Map(), 3 * REPEAT_MS), announcer.dueMs]).toEqual([[], undefined]);
});

test("many names are told in messages that fit, and no more than so many", () => {
  const many = Object.fromEntries(
    Array.from({ length: 1000 }, (_, number) => [`service-number-${number}`, ["10.30.0.1"]]),
  );
  const told = heard(new MdnsAnnouncer().next(namesOf(many), 0));
  expect(new Set(told.map((line) => line.split(" ")[0])).size).toBe(MAX_LOCAL_NAMES);
  const wide = { wide: Array.from({ length: 60 }, (_, number) => `fdff::${number}:1`) };
  expect(heard(new MdnsAnnouncer().next(namesOf(wide), 0))).toHaveLength(2 * 60 + 1);
});
