import fc from "fast-check";
import { dump, load } from "js-yaml";
import { expect, test } from "vitest";
import { readPlainYaml } from "./plain-yaml.ts";

/** What the full parser makes of a text; undefined where it refuses it. */
function loadFully(text: string): { value: unknown } | undefined {
  try {
    return { value: load(text) };
  } catch {
    return undefined;
  }
}

const name = fc.constantFrom(
  "apiVersion",
  "metadata",
  "a.example/b",
  "name",
  "x_y",
  "f-1",
  "null",
  "1",
  "",
);
const scalar = fc.oneof(
  fc.constantFrom(
    "10.0.0.1",
    "fd00::1",
    "web",
    "true",
    "null",
    "~",
    "0x1f",
    "1e3",
    "0o7",
    "1_000",
    "010",
    "-1",
    "",
  ),
  fc.constantFrom(
    "a: b",
    "a #b",
    "#a",
    "- a",
    "it's",
    'say "x"',
    "a\nb",
    "ü",
    "2026-01-01T00:00:00Z",
    "key:",
    "a,b]",
  ),
  fc.integer(),
  fc.double({ noNaN: true }),
  fc.boolean(),
  fc.constant(null),
  fc.string(),
);
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small" },
    scalar,
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.dictionary(name, tie("tree"), { maxKeys: 4 }),
  ),
}));

test("what programs write is read as the full parser reads it", () => {
  const options = fc.record({
    indent: fc.constantFrom(1, 2, 4),
    seqNoIndent: fc.boolean(),
    lineWidth: fc.constantFrom(-1, 20),
  });
  fc.assert(
    fc.property(fc.dictionary(name, tree), options, fc.boolean(), (value, style, isMarked) => {
      const text = (isMarked ? "---\n" : "") + dump(value, style);
      const plain = readPlainYaml(text);
      if (plain !== undefined) expect(plain).toEqual(loadFully(text));
    }),
    { numRuns: 1000 },
  );
});

test("what people write is read as the full parser reads it, or left to it", () => {
  const indent = fc.constantFrom("", "", "  ", "    ", "   ");
  const start = fc.constantFrom(
    "a:",
    "b:",
    "c: ",
    "- ",
    "-",
    "- a: ",
    "- - ",
    "a",
    "# x",
    "",
    "? ",
    "null: ",
    "1: ",
    "'q': ",
    "&x ",
    "a : ",
    "a:b: ",
    "---",
    "...",
  );
  const rest = fc.constantFrom(
    "",
    "x",
    " 1",
    " 10.0.0.1",
    " 'x'",
    ' "x"',
    " 'it''s'",
    ' "\\n"',
    " {}",
    " []",
    " {a: 1}",
    " |",
    " >-",
    " x # y",
    " # y",
    " a: b",
    " x:",
    " *x",
    " &y z",
    " !!str 1",
    " -",
    " 'x' y",
    "\t",
    "  ",
    " ~",
    " True",
    " 1e3",
    " .5",
    " 0x1F",
    " 12345678901234567890",
    " fd00::",
    " fd00::1",
    " a'b",
    " [",
    " @x",
    " %x",
    " +1",
  );
  const line = fc.tuple(indent, start, rest).map((parts) => parts.join(""));
  let plainCount = 0;
  fc.assert(
    fc.property(fc.array(line, { maxLength: 7 }), fc.boolean(), (lines, endsWell) => {
      const text = lines.join("\n") + (endsWell ? "\n" : "");
      const plain = readPlainYaml(text);
      if (plain === undefined) return;
      plainCount++;
      expect(plain).toEqual(loadFully(text));
    }),
    { numRuns: 20_000 },
  );
  expect(plainCount).toBeGreaterThan(100);
});

test("manifests as kubectl prints them are plain", () => {
  const manifest = {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name: "web",
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { "app.kubernetes.io/name": "web" },
      annotations: {},
    },
    spec: {
      clusterIPs: ["10.96.0.1", "fd00::1"],
      ports: [{ name: "http", port: 80, targetPort: "http" }, { port: 81 }],
      selector: null,
    },
    status: { loadBalancer: {} },
  };
  for (const seqNoIndent of [true, false]) {
    expect(readPlainYaml(dump(manifest, { seqNoIndent }))).toEqual({ value: manifest });
  }
});

test("nesting without end is left to the full parser", () => {
  const text = Array.from({ length: 5000 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n");
  expect(readPlainYaml(text)).toBeUndefined();
});
