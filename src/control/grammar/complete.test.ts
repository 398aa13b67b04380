import fc from "fast-check";
import { expect, test } from "vitest";
import type { ResourceName } from "../resource-names.ts";
import { complete } from "./complete.ts";
import { parseCommand } from "./parse-command.ts";
import { FIXTURE_RESOURCES } from "./resources.fixture.ts";

const NAMES: Readonly<Partial<Record<ResourceName, readonly string[]>>> = {
  "tcp-lb": ["lb0", "lb1"],
  upstream: ["u0", "in"],
  "server-group": ["g0", "g 1"],
  server: ["s1"],
};

function words(line: string): readonly string[] {
  return complete(line, FIXTURE_RESOURCES, (type) => NAMES[type] ?? []);
}

test.each<[string, readonly string[]]>([
  [
    "",
    [
      ...["add", "list", "list-detail", "update", "remove", "force-remove", "man"],
      ...["help", "version", "save", "load", "lookup", "shutdown"],
    ],
  ],
  ["l", ["list", "list-detail", "load", "lookup"]],
  ["System: sh", ["shutdown"]],
  ["add t", ["tcp-lb"]],
  ["update ", ["tcp-lb", "server"]],
  ["list c", ["config"]],
  ["list tcp-lb ", []],
  ["add tcp-lb ", []],
  ["add sg ", ["g0", '"g 1"']],
  ["remove tcp-lb ", ["lb0", "lb1"]],
  ["rm ups ", ["u0", '"in"']],
  [
    "update tcp-lb lb0 ",
    ["upstream", "protocol", "timeout", "cert-key", "falls-back", "not-falls-back"],
  ],
  ["update tcp-lb lb0 falls-back protocol tcp c", ["cert-key"]],
  ["update tcp-lb lb0 protocol ", ["tcp", "http", "h2"]],
  ["update tcp-lb lb0 protocol h", ["http", "h2"]],
  ["update tcp-lb lb0 upstream u", ["u0"]],
  ["update tcp-lb lb0 timeout ", []],
  ["add server s1 ", ["to"]],
  ["add server s1 to ", ["server-group"]],
  ["add server s1 to server-group ", ["g0", '"g 1"']],
  ["add server s1 to sg g0 ", ["address", "weight"]],
  ["add server s1 to sg g0 address 10.0.0.1:80 ", ["weight"]],
  ["add sg g0 ", ["to", "hint-host", "annotations"]],
  ["add sg g0 to ", ["upstream", "service"]],
  ["add sg g0 to ups u0 ", ["weight", "annotations"]],
  ["list session ", ["in"]],
  ["list session in ", ["event-loop", "tcp-lb", "server"]],
  ["list session in server s1 ", ["in"]],
  ["list session in server s1 in ", ["server-group"]],
  ["list session in tcp-lb lb0 ", []],
  ["remove session x ", ["from"]],
  ["man ", FIXTURE_RESOURCES.map(({ name }) => name)],
  ["man tl ", ["add", "list", "list-detail", "update", "remove"]],
  ["help ups f", ["force-remove"]],
  ["nothing ", []],
  ["add nothing ", []],
  ["add sg g0 nothing ", []],
  ['add sg "g', ['"g 1"']],
  ['add sg "g ', []],
  ["save ", []],
])("after %j", (line, expected) => {
  expect(words(line)).toEqual(expected);
});

test("a list of names is completed piece by piece, with names that are not in it", () => {
  const all = (line: string): readonly string[] =>
    complete(line, FIXTURE_RESOURCES, (type) => (type === "cert-key" ? ["c0", "c1", "d"] : []));
  expect(all("update tcp-lb lb0 cert-key ")).toEqual(["c0", "c1", "d"]);
  expect(all("update tcp-lb lb0 cert-key c0,")).toEqual(["c0,c1", "c0,d"]);
  expect(all("update tcp-lb lb0 cert-key c0,c")).toEqual(["c0,c1"]);
});

test("every command of the examples can be reached by taking words that are offered", () => {
  const examples = FIXTURE_RESOURCES.flatMap(({ scopes }) =>
    scopes.flatMap(({ actions }) => Object.values(actions).flatMap((action) => action.examples)),
  );
  for (const example of examples) {
    const command = parseCommand(example, FIXTURE_RESOURCES);
    if (command.kind !== "resource") continue;
    const start = `${command.action} ${command.type}${command.name === "" ? "" : " x"} `;
    const place = command.within.flatMap(({ type }) => ["in", type]);
    expect(words(`${command.action} `)).toContain(command.type);
    if (place.length > 0) expect(words(start)).toContain(prepositionIn(example));
  }
});

test("random lines are completed with words that they begin, and never throw", () => {
  const pieces = fc.constantFrom("add", "tl", "to", "sg", "g0", "weight", "'", '"', "{", " ", "  ");
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: pieces, maxLength: 12 })), (line) => {
      const partial = /\S*$/.exec(line)?.[0] ?? "";
      for (const word of words(line)) expect(word.startsWith(partial)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

function prepositionIn(line: string): string | undefined {
  return /\s(in|to|from)\s/.exec(line)?.[1];
}
