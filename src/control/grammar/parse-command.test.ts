import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import type { ParamInput, ResourceCommand, ResourceRef } from "../command.ts";
import { parseCommand, parseWords } from "./parse-command.ts";
import { FIXTURE_RESOURCES } from "./resources.fixture.ts";

function parse(line: string): ReturnType<typeof parseCommand> {
  return parseCommand(line, FIXTURE_RESOURCES);
}

function problemsOf(line: string): readonly string[] {
  try {
    parse(line);
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
    expect(error.code).toBe("ERR_USAGE");
    expect(error.problems.length).toBeGreaterThan(0);
    return error.message.split("\n");
  }
  return [];
}

function command(
  action: ResourceCommand["action"],
  type: ResourceCommand["type"],
  name: string,
  within: readonly ResourceRef[] = [],
  params: Readonly<Record<string, ParamInput>> = {},
): ResourceCommand {
  return { kind: "resource", action, type, name, within, params: new Map(Object.entries(params)) };
}

const G0: ResourceRef = { type: "server-group", name: "g0" };

test.each([
  ["add upstream u0", command("add", "upstream", "u0")],
  ["a ups u0", command("add", "upstream", "u0")],
  ["ls tl", command("list", "tcp-lb", "")],
  ["l tcp-lb", command("list", "tcp-lb", "")],
  ["ll tl", command("list-detail", "tcp-lb", "")],
  ["L tl", command("list-detail", "tcp-lb", "")],
  ["rm ups u0", command("remove", "upstream", "u0")],
  ["r ups u0", command("remove", "upstream", "u0")],
  ["R ups u0", command("force-remove", "upstream", "u0")],
  ["mod svr s1 in sg g0 weight 0", command("update", "server", "s1", [G0], { weight: "0" })],
  [
    "add server s1 address 10.0.2.1:80 to server-group g0 weight 10",
    command("add", "server", "s1", [G0], { address: "10.0.2.1:80", weight: "10" }),
  ],
  [
    'add sg g0 to ups u0 annotations {"vproxy/hint-host": "a.com"} weight 3',
    command("add", "server-group", "g0", [{ type: "upstream", name: "u0" }], {
      annotations: { "vproxy/hint-host": "a.com" },
      weight: "3",
    }),
  ],
  [
    "update tcp-lb lb0 falls-back timeout 5",
    command("update", "tcp-lb", "lb0", [], { "falls-back": true, timeout: "5" }),
  ],
  [
    "update tcp-lb lb0 falls-back false",
    command("update", "tcp-lb", "lb0", [], { "falls-back": false }),
  ],
  [
    "list session in event-loop el0 in event-loop-group elg0",
    command("list", "session", "", [
      { type: "event-loop", name: "el0" },
      { type: "event-loop-group", name: "elg0" },
    ]),
  ],
  ['add upstream "in"', command("add", "upstream", "in")],
  ["add sg weight", command("add", "server-group", "weight")],
  ['add sg "a b" hint-host ""', command("add", "server-group", "a b", [], { "hint-host": "" })],
  [
    "System: add resp-controller r0 address 127.0.0.1:0",
    command("add", "resp-controller", "r0", [], { address: "127.0.0.1:0" }),
  ],
  [
    "add resp-controller r0 address [::1]:16309 password 'a b'",
    command("add", "resp-controller", "r0", [], { address: "[::1]:16309", password: "a b" }),
  ],
])("reads %s", (line, expected) => {
  expect(parse(line)).toEqual(expected);
});

test.each([
  ["help", { kind: "system", verb: "help", args: [] }],
  ["System: help", { kind: "system", verb: "help", args: [] }],
  ["version", { kind: "system", verb: "version", args: [] }],
  ["System:list config", { kind: "system", verb: "list config", args: [] }],
  ["ls config", { kind: "system", verb: "list config", args: [] }],
  ["save '/tmp/a b'", { kind: "system", verb: "save", args: ["/tmp/a b"] }],
  ["System: load f.conf", { kind: "system", verb: "load", args: ["f.conf"] }],
  ["shutdown", { kind: "system", verb: "shutdown", args: [] }],
  ["lookup a.example", { kind: "system", verb: "lookup", args: ["a.example"] }],
  ["man", { kind: "man", type: undefined, action: undefined }],
  ["man tl", { kind: "man", type: "tcp-lb", action: undefined }],
  ["man tl a", { kind: "man", type: "tcp-lb", action: "add" }],
  ["help tl", { kind: "man", type: "tcp-lb", action: undefined }],
])("reads %s", (line, expected) => {
  expect(parse(line)).toEqual(expected);
});

test.each([
  ["", ['command: missing; expected "help" to see what can be typed']],
  ["# only a comment", ['command: missing; expected "help" to see what can be typed']],
  ["System:", ['command: missing; expected "help" to see what can be typed']],
  ["ad tcp-lb lb0", ['action: "ad" is not valid; expected "add"']],
  [
    "ad tpc-lb lb0",
    [
      'action: "ad" is not valid; expected "add"',
      'resource: "tpc-lb" is not valid; expected "tcp-lb"',
    ],
  ],
  [
    "GET",
    [
      'action: "GET" is not valid; expected one of add, list, list-detail, update, remove, force-remove, or "help"',
    ],
  ],
  ["shutdwon", ['action: "shutdwon" is not valid; expected "shutdown"']],
  [
    "add",
    [
      "resource: missing; expected one of tcp-lb, upstream, server-group, server, session, event-loop-group, event-loop, service, resp-controller",
    ],
  ],
  ["add upstream", ["name: missing; expected the name of an upstream"]],
  [
    "add server to server-group g0 address 10.0.0.1:80",
    ["name: missing; expected the name of a server"],
  ],
  ["add tcp-lb address 0.0.0.0:80 upstream u0", ["name: missing; expected the name of a tcp-lb"]],
  [
    "list-detail tcp-lb lb0",
    ['name: "lb0" is not valid; expected no name: "list-detail tcp-lb" is about all of them'],
  ],
  [
    "add tcp-lb lb0 adress 0.0.0.0:80 protocol spdy protocol tcp timeout",
    [
      'adress: unknown key; expected "address"',
      "protocol: given twice; expected it once",
      "timeout: missing; expected a whole number from 1 to 86400000",
      "address: missing; expected HOST:PORT, [IPV6]:PORT or unix:PATH",
      "upstream: missing; expected the name of an upstream",
    ],
  ],
  [
    "update tcp-lb lb0 timeout 0 protocol spdy falls-back falls-back",
    [
      "falls-back: given twice; expected it once",
      'timeout: "0" is not valid; expected a whole number from 1 to 86400000',
      'protocol: "spdy" is not valid; expected one of tcp, http, h2',
    ],
  ],
  [
    "update tcp-lb lb0",
    [
      "parameters: missing; expected one or more of upstream, protocol, timeout, cert-key, falls-back, not-falls-back",
    ],
  ],
  [
    "update upstream u0",
    [
      'action: "update" is nothing that an upstream has; expected one of add, list, remove, force-remove',
    ],
  ],
  [
    "update upstream u0 x y",
    [
      'action: "update" is nothing that an upstream has; expected one of add, list, remove, force-remove',
    ],
  ],
  ["add upstream u0 x y", ["x: unknown key; expected no parameters"]],
  [
    'add server-group g0 annotations {"a":"1","a":"2"}',
    ["annotations.a: the key is there twice; expected each key once"],
  ],
  [
    "add server s1 address 10.0.0.1:80",
    ['in: "add server" with no place; expected to server-group NAME'],
  ],
  [
    "list server-group in upstream u0",
    [
      'in: "list server-group" with in upstream NAME; expected server-group by itself; there it has add, remove',
    ],
  ],
  [
    "list session in server s1",
    ['in: "list session" with in server NAME; expected in server NAME in server-group NAME'],
  ],
  ["list session in servr s1", ['in: "servr" is not valid; expected "server"']],
  ["list session in", ['in: missing; expected a resource and its name after "in"']],
  ["list session in tcp-lb", ["in.tcp-lb: missing; expected the name of a tcp-lb"]],
  [
    "add sg g0 annotations {1}",
    ['annotations: "{1}" is not valid; expected a JSON object of texts, such as {"key":"value"}'],
  ],
  [
    'add sg g0 annotations {"a":1}',
    [
      'annotations: "{\\"a\\":1}" is not valid; expected a JSON object of texts, such as {"key":"value"}',
    ],
  ],
  [
    "add sg g0 to ups u0 hint-host a",
    ["hint-host: unknown key; expected one of weight, annotations"],
  ],
  [
    "System: list tcp-lb",
    ['System: "tcp-lb" is not valid; expected this command without "System:"'],
  ],
  ["save", ['save: missing; expected "save FILE"']],
  ["save a b", ['save: "b" is not valid; expected one FILE']],
  ["shutdown now", ['shutdown: "now" is not valid; expected "shutdown" alone']],
  [
    "man tcplb ad",
    [
      'resource: "tcplb" is not valid; expected "tcp-lb"',
      'action: "ad" is not valid; expected "add"',
    ],
  ],
  [
    "man upstream update",
    ['action: "update" is not valid; expected an action that an upstream has'],
  ],
])("says all that is wrong with %j", (line, problems) => {
  expect(problemsOf(line)).toEqual(problems);
});

test("a place that is wrong hides nothing that is wrong with the parameters", () => {
  expect(problemsOf("add server s1 in tcp-lb lb0 weight x")).toEqual([
    'in: "add server" with to tcp-lb NAME; expected to server-group NAME',
    'weight: "x" is not valid; expected a whole number from 0 to 1000',
    "address: missing; expected HOST:PORT, [IPV6]:PORT or unix:PATH",
  ]);
});

test("words that were told apart already keep their spaces, quotes and braces", () => {
  const words = ["add", "sg", "g 0", "hint-host", 'a "b"', "annotations", '{"a":"b c"}'];
  expect(parseWords(words, FIXTURE_RESOURCES)).toEqual(
    command("add", "server-group", "g 0", [], { "hint-host": 'a "b"', annotations: '{"a":"b c"}' }),
  );
  expect(parseWords(["list config"], FIXTURE_RESOURCES)).toMatchObject({ verb: "list config" });
  expect(parseWords(["list", "config"], FIXTURE_RESOURCES)).toMatchObject({ verb: "list config" });
});

test("a preposition is a value only in quotes", () => {
  expect(problemsOf("update server s1 weight in sg g0")).toEqual([
    "weight: missing; expected a whole number from 0 to 1000",
  ]);
  expect(parse("add sg g0 hint-host 'in'")).toEqual(
    command("add", "server-group", "g0", [], { "hint-host": "in" }),
  );
});

test("a value that is wrong is blamed once where the parameter comes twice", () => {
  expect(problemsOf("update server s1 in sg g0 weight {1} weight 1")).toEqual([
    'weight: "{1}" is not valid; expected a whole number from 0 to 1000',
    "weight: given twice; expected it once",
  ]);
});
