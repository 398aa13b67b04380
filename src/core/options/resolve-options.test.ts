import fc from "fast-check";
import { expect, test } from "vitest";
import { formatProblem } from "../model/problems.ts";
import { formatListenAddress, parseListenAddress } from "./listen-address.ts";
import { environmentName, flagName, type OptionSpecs } from "./option-spec.ts";
import { parseDurationMs, parseOption } from "./parse-option.ts";
import { environmentLayer, fileLayer, flagLayer, resolveOptions } from "./resolve-options.ts";

const SPECS = {
  node: { kind: "string", help: "this node" },
  maxFileBytes: { kind: "number", help: "limit", min: 1, max: 1000, default: 256 },
  once: { kind: "boolean", help: "end after the first sync" },
  from: { kind: "list", help: "sources" },
  retry: { kind: "duration", help: "wait", default: "5s" },
  format: { kind: "enum", help: "how", values: ["ops", "yaml"], default: "ops" },
  metricsListen: { kind: "address", help: "where" },
  token: { kind: "string", help: "secret", secret: true },
} as const satisfies OptionSpecs;

test("one name gives the flag and the variable", () => {
  expect(flagName("metricsListen")).toBe("metrics-listen");
  expect(environmentName("metricsListen")).toBe("PORTOLAN_METRICS_LISTEN");
});

test("defaults stand where nothing is said", () => {
  expect(resolveOptions(SPECS, []).values).toEqual({
    node: undefined,
    maxFileBytes: 256,
    once: false,
    from: [],
    retry: 5000,
    format: "ops",
    metricsListen: undefined,
    token: undefined,
  });
});

test("a short word stands for its value, and only where the option has it", () => {
  const spec = {
    kind: "enum",
    help: "how",
    values: ["ops", "yaml"],
    aliases: { y: "yaml" },
  } as const;
  expect(parseOption(spec, "y")).toBe("yaml");
  expect(parseOption(spec, "toString")).toBeUndefined();
  expect(parseOption(SPECS.format, "y")).toBeUndefined();
});

test("flag before environment before file", () => {
  const layers = [
    flagLayer({ node: "flag" }),
    environmentLayer({
      PORTOLAN_NODE: "env",
      PORTOLAN_FROM: "file:a  file:b ",
      PORTOLAN_ONCE: "1",
    }),
    fileLayer({ node: "file", once: false, "max-file-bytes": 3, "metrics-listen": 9 }, ["options"]),
  ];
  expect(resolveOptions(SPECS, layers).values).toMatchObject({
    node: "flag",
    once: true,
    from: ["file:a", "file:b"],
    maxFileBytes: 3,
    metricsListen: { kind: "tcp", host: "127.0.0.1", port: 9 },
  });
});

test("all problems are reported, each with its place, its value and what would be right", () => {
  const { problems } = resolveOptions(SPECS, [
    flagLayer({ format: "xml" }),
    environmentLayer({ PORTOLAN_MAX_FILE_BYTES: "0", PORTOLAN_RETRY: "5", PORTOLAN_TOKEN: "" }),
    fileLayer({ once: "perhaps", "metrics-listen": "nowhere" }, ["options"]),
  ]);
  expect(problems.map(formatProblem)).toEqual([
    'PORTOLAN_MAX_FILE_BYTES: "0" is not valid; expected a whole number from 1 to 1000',
    'options.once: "perhaps" is not valid; expected true or false',
    'PORTOLAN_RETRY: "5" is not valid; expected a number with a unit: 250ms, 5s, 2m, 1h',
    '--format: "xml" is not valid; expected one of ops, yaml',
    'options.metrics-listen: "nowhere" is not valid; expected HOST:PORT, PORT or unix:PATH',
    "PORTOLAN_TOKEN: (hidden) is not valid; expected a text that is not empty",
  ]);
});

test.each([
  ["127.0.0.1:80", { kind: "tcp", host: "127.0.0.1", port: 80 }],
  ["[::1]:80", { kind: "tcp", host: "::1", port: 80 }],
  ["localhost:80", { kind: "tcp", host: "localhost", port: 80 }],
  ["8080", { kind: "tcp", host: "127.0.0.1", port: 8080 }],
  ["0.0.0.0:0", { kind: "tcp", host: "0.0.0.0", port: 0 }],
  ["unix:/run/p.sock", { kind: "unix", path: "/run/p.sock" }],
  ["unix:", undefined],
  ["70000", undefined],
  ["localhost", undefined],
  [":80", undefined],
])("reads the address %s", (text, address) => {
  expect(parseListenAddress(text)).toEqual(address);
});

test("an address that was written is read back", () => {
  const addresses = fc.tuple(fc.constantFrom("127.0.0.1", "::1", "a.example"), fc.nat(65535));
  fc.assert(
    fc.property(addresses, ([host, port]) => {
      const address = { kind: "tcp", host, port } as const;
      expect(parseListenAddress(formatListenAddress(address))).toEqual(address);
    }),
  );
});

test("durations need a unit", () => {
  expect(["250ms", "5s", "2m", "1h", "5", "-1s", "1d"].map(parseDurationMs)).toEqual([
    250,
    5000,
    120_000,
    3_600_000,
    undefined,
    undefined,
    undefined,
  ]);
});

test("reading random values never throws", () => {
  fc.assert(
    fc.property(fc.anything(), (raw) => {
      for (const spec of Object.values(SPECS)) parseOption(spec, raw);
    }),
  );
});

test("a text whose default is empty is empty where nobody says it", () => {
  const specs = { note: { kind: "string", placeholder: "TEXT", default: "", help: "" } } as const;
  expect(resolveOptions(specs, []).values).toEqual({ note: "" });
});
