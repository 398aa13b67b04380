import fc from "fast-check";
import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import type { ParamInput } from "../command.ts";
import type { ParamSpec } from "../resource-spec.ts";
import { expectedOf, readValue } from "./param-value.ts";
import { type ParamReader, paramProblems, readParams } from "./read-params.ts";
import { FIXTURE_RESOURCES } from "./resources.fixture.ts";

const SPECS: readonly ParamSpec[] = [
  { kind: "text", placeholder: "HOST", name: "host", field: "host", help: "a host" },
  { kind: "integer", min: 0, max: 100, name: "weight", field: "weight", help: "a share" },
  {
    kind: "enum",
    values: ["weighted", "tcpDelay"],
    aliases: { wrr: "weighted" },
    name: "method",
    field: "method",
    help: "how",
  },
  { kind: "address", unix: true, name: "address", field: "address", help: "where", required: true },
  { kind: "list", placeholder: "FILE", name: "cert", field: "cert", help: "files" },
  {
    kind: "list",
    placeholder: "NAME",
    references: "cert-key",
    name: "cert-key",
    field: "listOfCertKey",
    help: "certificates",
  },
  { kind: "reference", to: "upstream", name: "upstream", field: "backend", help: "where to" },
  { kind: "strings", name: "annotations", field: "annotations", help: "notes" },
  { kind: "flag", name: "allow", field: "allow", help: "yes" },
  { kind: "flag", name: "deny", field: "deny", help: "no" },
  { kind: "text", placeholder: "WORD", secret: true, name: "word", field: "word", help: "secret" },
];

function read(params: Readonly<Record<string, ParamInput>>): ParamReader {
  return readParams(new Map(Object.entries(params)), SPECS, "update");
}

test("gives each parameter as what it is, from text and from JSON alike", () => {
  const typed = {
    host: "a.example",
    weight: "10",
    method: "WRR",
    address: "[FD00::1]:80",
    cert: "a.pem, b.pem",
    "cert-key": "c0,other/c1",
    upstream: "u0",
    annotations: '{"a":"b"}',
    allow: true,
  };
  const json = {
    ...typed,
    weight: 10,
    method: "weighted",
    address: "[fd00::1]:80",
    cert: ["a.pem", "b.pem"],
    "cert-key": ["c0", "other/c1"],
    annotations: { a: "b" },
  };
  for (const reader of [read(typed), read(json)]) {
    expect(reader.text("host")).toBe("a.example");
    expect(reader.integer("weight")).toBe(10);
    expect(reader.oneOf("method", ["weighted", "source"])).toBe("weighted");
    expect(reader.address("address")).toEqual({ kind: "tcp", host: "fd00::1", port: 80 });
    expect(reader.list("cert")).toEqual(["a.pem", "b.pem"]);
    expect(reader.list("cert-key")).toEqual(["c0", "other/c1"]);
    expect(reader.text("upstream")).toBe("u0");
    expect(reader.strings("annotations")).toEqual({ a: "b" });
    expect(reader.either("allow", "deny")).toBe(true);
    expect(reader.isEmpty).toBe(false);
  }
});

test("what was not given is undefined, and known to be so", () => {
  const reader = read({});
  expect(reader.isEmpty).toBe(true);
  expect(reader.has("weight")).toBe(false);
  expect(reader.integer("weight")).toBeUndefined();
  expect(reader.list("cert")).toBeUndefined();
  expect(reader.either("allow", "deny")).toBeUndefined();
});

test("empty texts, lists and references were given: they take away what was there", () => {
  const reader = read({ host: "", cert: "", "cert-key": [], upstream: "" });
  expect(reader.text("host")).toBe("");
  expect(reader.list("cert")).toEqual([]);
  expect(reader.list("cert-key")).toEqual([]);
  expect(reader.text("upstream")).toBe("");
  expect(reader.has("host")).toBe(true);
});

test.each([
  ["10.0.0.1:80", { kind: "tcp", host: "10.0.0.1", port: 80 }],
  ["a.example:80", { kind: "tcp", host: "a.example", port: 80 }],
  ["unix:/run/a.sock", { kind: "unix", path: "/run/a.sock" }],
  ["sock:/run/a.sock", { kind: "unix", path: "/run/a.sock" }],
])("reads the address %s", (text, address) => {
  expect(read({ address: text }).address("address")).toEqual(address);
});

test.each(["80", "10.0.0.1", "10.0.0.1:0", "10.0.0.1:65536", "fd00::1:80", "unix:", "unix:/a\0b"])(
  "refuses the address %j",
  (text) => {
    expect(() => read({ address: text })).toThrow(/expected HOST:PORT, \[IPV6\]:PORT or unix:PATH/);
  },
);

test("a unix socket is an address only where the spec says so", () => {
  const spec: ParamSpec = { kind: "address", name: "at", field: "at", help: "" };
  expect(readValue(spec, "unix:/run/a.sock")).toBeUndefined();
  expect(expectedOf(spec)).toBe("HOST:PORT or [IPV6]:PORT");
});

test("a key that is there twice in an object of texts is refused by its name", () => {
  const params = new Map([["annotations", '{"a":"1","b":"2","a":"3"}']]);
  expect(paramProblems(params, SPECS, "update")).toEqual([
    expect.objectContaining({ path: ["annotations", "a"], value: "the key is there twice" }),
  ]);
});

test("port 0 is an address where any free port is meant to be", () => {
  const spec: ParamSpec = { kind: "address", anyPort: true, name: "at", field: "at", help: "" };
  expect(readValue(spec, "[::1]:0")).toEqual({ kind: "tcp", host: "::1", port: 0 });
});

test("all problems are told at once, each by the name of the parameter; secrets are hidden", () => {
  const params = new Map<string, ParamInput>([
    ["wieght", "5"],
    ["weight", "101"],
    ["method", "fast"],
    ["cert", "a,,b"],
    ["upstream", "a b"],
    ["annotations", { a: "b" }],
    ["allow", "perhaps"],
    ["word", "one\ntwo"],
  ]);
  const error: unknown = thrown(() => readParams(params, SPECS, "add"));
  expect(error).toBeInstanceOf(CoreError);
  expect(error).toMatchObject({ code: "ERR_USAGE" });
  expect(String(error).split("\n")).toEqual([
    'CoreError: wieght: unknown key; expected "weight"',
    'weight: "101" is not valid; expected a whole number from 0 to 100',
    'method: "fast" is not valid; expected one of weighted, tcpDelay',
    'cert: "a,,b" is not valid; expected FILE, or several with commas between',
    'upstream: "a b" is not valid; expected the name of an upstream',
    'allow: "perhaps" is not valid; expected the word alone; true or false in JSON',
    "word: (hidden) is not valid; expected a text without control characters (WORD)",
    "address: missing; expected HOST:PORT, [IPV6]:PORT or unix:PATH",
  ]);
});

test("only add needs the required ones", () => {
  expect(paramProblems(new Map(), SPECS, "update")).toEqual([]);
  expect(paramProblems(new Map(), SPECS, "add")).toHaveLength(1);
});

test("two flags that are each other's opposite", () => {
  expect(read({ deny: true }).either("allow", "deny")).toBe(false);
  expect(read({ allow: false }).either("allow", "deny")).toBe(false);
  expect(read({ deny: false }).either("allow", "deny")).toBe(true);
  expect(() => read({ allow: true, deny: true }).either("allow", "deny")).toThrow(
    'deny: says the opposite of "allow"; expected one of the two',
  );
});

test("asking for a parameter as what it is not is a fault of the program", () => {
  expect(() => read({ weight: 1 }).text("weight")).toThrow(TypeError);
});

test("reading random values never throws, and what is read is read again as the same", () => {
  const all = FIXTURE_RESOURCES.flatMap(({ scopes }) =>
    scopes.flatMap(({ actions }) => Object.values(actions).flatMap(({ params }) => params)),
  );
  const inputs = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.array(fc.string()),
    fc.dictionary(fc.string(), fc.string()),
  );
  fc.assert(
    fc.property(fc.constantFrom(...all, ...SPECS), inputs, (spec, input) => {
      const value = readValue(spec, input);
      if (value === undefined || spec.kind === "address" || typeof value === "object") return;
      expect(readValue(spec, value)).toEqual(value);
    }),
  );
});

function thrown(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}
