import fc from "fast-check";
import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import { parseState } from "./parse-state.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Lines of the error that refuses the files. */
function refusal(files: Readonly<Record<string, string | Uint8Array>>): string[] {
  try {
    parseState(
      Object.entries(files).map(([name, content]) => ({
        name,
        bytes: typeof content === "string" ? bytesOf(content) : content,
      })),
    );
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
    expect(error.code).toBe("ERR_STATE_INVALID");
    return error.message.split("\n");
  }
  return [];
}

const kindsIn = (name: string, text: string) =>
  parseState([{ name, bytes: bytesOf(text) }]).objects.map((object) => object.kind);

const SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n";

test("forms are told apart by content, also in one file", () => {
  const text = `${SERVICE}spec: {clusterIP: 10.0.0.1}
---
version: 1
services: {api: {listen: 8080, servers: "127.0.0.1:9001"}}
---
kind: Node
name: n1
---
nodes: [{name: n2}]
services: []
---
# nothing here
---
`;
  expect(kindsIn("state.yaml", text)).toEqual([
    "Service",
    "Service",
    "Listener",
    "Endpoint",
    "Node",
    "Node",
  ]);
});

test("JSON is read whatever the file is called; flow YAML too", () => {
  const json = JSON.stringify({ version: 1, nodes: { n1: {} } });
  expect(kindsIn("state.yaml", `\n ${json}`)).toEqual(["Node"]);
  expect(kindsIn("state.json", json)).toEqual(["Node"]);
  expect(kindsIn("state.yaml", "{version: 1, nodes: {n1: {}}}")).toEqual(["Node"]);
});

test("a byte order mark, directives and explicit ends are read over", () => {
  expect(kindsIn("state.yaml", "\uFEFFkind: Node\nname: n1\n")).toEqual(["Node"]);
  const text = "%YAML 1.2\n---\nkind: Node\nname: n1\n...\n---\nkind: Node\nname: n2\n";
  expect(kindsIn("state.yaml", text)).toEqual(["Node", "Node"]);
});

test("`---` inside of a block scalar begins no document", () => {
  const text = "kind: Node\nname: n1\nlabels:\n  a: |\n    x\n    ---\n    y\n";
  expect(kindsIn("state.yaml", text)).toEqual(["Node"]);
});

test("merge keys and aliases are understood", () => {
  const text = "version: 1\nnodes:\n  a: &base {zone: z}\n  b: {<<: *base, addresses: 192.0.2.1}\n";
  expect(parseState([{ name: "s.yaml", bytes: bytesOf(text) }]).objects).toMatchObject([
    { name: "a", zone: "z" },
    { name: "b", zone: "z", addresses: ["192.0.2.1"] },
  ]);
});

test("file, line and field of everything that is wrong, in YAML", () => {
  const text = `${SERVICE}spec:
  clusterIP: 10.0.0.1
  ports:
    - port: 0
    - name: tls
      port: 70000
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}
addressType: IPv6
ports: [{name: "", port: 80}]
endpoints:
  - addresses: [fd00::1]
  - addresses:
      - 10.0.0.1
`;
  expect(refusal({ "state.yaml": text })).toEqual([
    "state.yaml:7: spec.ports[0].port: 0 is not valid; expected a whole number from 1 to 65535",
    "state.yaml:9: spec.ports[1].port: 70000 is not valid; expected a whole number from 1 to 65535",
    'state.yaml:19: endpoints[1].addresses[0]: "10.0.0.1" is not valid; expected an IPv6 address, as addressType says',
  ]);
});

test("file, line and field in JSON, also in a long list", () => {
  const item = (name: string, port: number) => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, labels: { "a\n": '"}]' } },
    spec: { clusterIP: `10.0.0.${port % 200}`, ports: [{ port }] },
  });
  const items = [
    ...Array.from({ length: 50 }, (_, index) => item(`s${index}`, index + 1)),
    item("x", 70000),
  ];
  const text = JSON.stringify({ items, kind: "List", apiVersion: "v1" }, null, 2);
  const line = text.slice(0, text.indexOf("70000")).split("\n").length;
  expect(refusal({ "state.json": text })).toEqual([
    `state.json:${line}: items[50].spec.ports[0].port: 70000 is not valid; expected a whole number from 1 to 65535`,
  ]);
  const short = JSON.stringify({ version: 1, services: { web: { lisen: 80 } } }, null, 2);
  expect(refusal({ "short.json": short })).toEqual([
    'short.json:5: services.web.lisen: unknown key; expected "listen"',
  ]);
});

test("two services with one cluster IP are told with both names and files", () => {
  const spec = "spec: {clusterIP: 10.0.0.1, ports: [{port: 80}]}\n";
  const other = "version: 1\nservices:\n  other: {clusterIPs: 10.0.0.1, ports: 80}\n";
  expect(refusal({ "a.yaml": SERVICE + spec, "b.yaml": other })).toEqual([
    "b.yaml:3: services.other: cluster IP 10.0.0.1 of Service default/other is taken; " +
      "expected another one: Service default/web (a.yaml:1) has it",
  ]);
});

test("an object that is there twice is told with both places", () => {
  const spec = "spec: {clusterIP: 10.0.0.1}\n";
  const lines = refusal({ "a.yaml": `${SERVICE}${spec}---\n${SERVICE}${spec}` });
  expect(lines).toEqual([
    "a.yaml:6: Service default/web is taken; expected another one: Service default/web (a.yaml:1) has it",
  ]);
});

test("an endpoint whose service does not exist is kept", () => {
  const text = JSON.stringify({
    kind: "Endpoint",
    name: "a",
    group: "nobody",
    addresses: ["10.0.0.1"],
  });
  expect(kindsIn("a.json", text)).toEqual(["Endpoint"]);
});

test.each([
  ["a.yaml", "a: [1\nb: 2\n", "a.yaml:2: deficient indentation; expected well-formed YAML"],
  [
    "a.yaml",
    "kind: Node\nname: a\n---\nkind: Node\n name: b\n",
    /^a\.yaml:5: .*; expected well-formed YAML$/,
  ],
  [
    "a.yaml",
    "kind: Node\nkind: Node\n",
    "a.yaml:2: duplicated mapping key; expected well-formed YAML",
  ],
  ["a.json", '{\n"kind": "Node",\n}', 'a.json:3: unexpected "}"; expected well-formed JSON'],
  [
    "a.json",
    '{"kind": "List", "apiVersion": "v1",\n"items": [\n{"a":\n tru}]}',
    'a.json:4: unexpected "tru}"; expected well-formed JSON',
  ],
  ["a.json", '{"kind":\n', "a.json:2: the text ends too early; expected well-formed JSON"],
  ["a.yaml", `${"[".repeat(200)}`, /^a\.yaml:1: nesting exceeded/],
  ["a.yaml", "", /^a\.yaml:1: the file is empty; expected/],
  ["a.yaml", "# only a comment\n", /^a\.yaml:1: the file is empty; expected/],
  ["a.yaml", "hello", /^a\.yaml:1: "hello" is not valid; expected Kubernetes manifests/],
  [
    "a.yaml",
    "services: {web: {}}",
    "a.yaml:1: version: missing; expected 1, the version of this form",
  ],
  ["a.yaml", "version: 2", "a.yaml:1: version: 2 is not valid; expected 1"],
  ["a.yaml", "kind: Servce\nname: x", 'a.yaml:1: kind: "Servce" is not valid; expected Service'],
  ["a.json", '{"version":1,"nodes":{"__proto__":{}}}', /__proto__.* expected another key$/],
  [
    "a.json",
    '{"kind":"Node","name":"n","labels":{"__proto__":"x"}}',
    /__proto__.* expected another key$/,
  ],
])("malformed input is refused with its place: %s %j", (name, text, expected) => {
  const lines = refusal({ [name]: text });
  expect(lines).toHaveLength(1);
  if (typeof expected === "string") expect(lines[0]).toBe(expected);
  else expect(lines[0]).toMatch(expected);
});

test("a bad file does not hide what is wrong with the others", () => {
  const lines = refusal({
    "a.yaml": "a: [",
    "b.yaml": "version: 2",
    "c.yaml": "kind: Node\nname: ok",
  });
  expect(lines.map((line) => line.slice(0, 6))).toEqual(["a.yaml", "b.yaml"]);
});

test("random bytes are refused, never more", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 10_000, size: "max" }), (bytes) => {
      expect(refusal({ "a.yaml": bytes })).not.toEqual([]);
      expect(refusal({ "a.json": bytes })).not.toEqual([]);
    }),
    { numRuns: 50 },
  );
});

test("random text is refused or read, never more", () => {
  const words = fc.constantFrom(
    "kind",
    "version",
    ": ",
    "1",
    "\n",
    "  ",
    "- ",
    "{",
    "}",
    "[",
    "]",
    "&a ",
    "*a",
    "---\n",
    '"',
    "|",
    "services",
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 60 }), (parts) => {
      expect(refusal({ "a.yaml": parts.join(""), "b.json": parts.join("") })).toBeInstanceOf(Array);
    }),
  );
});

test("bytes that are not UTF-8 are refused", () => {
  expect(refusal({ "a.yaml": new Uint8Array([0xff, 0xfe, 0x61]) })).toEqual([
    "a.yaml:1: bytes that are not UTF-8; expected UTF-8 text",
  ]);
});

test("an alias bomb and an alias to itself are refused before they are walked", () => {
  const levels = Array.from({ length: 12 }, (_, level) =>
    level === 0 ? "a0: &a0 [x]" : `a${level}: &a${level} [${`*a${level - 1}, `.repeat(10)}]`,
  );
  expect(refusal({ "bomb.yaml": `version: 1\n${levels.join("\n")}\n` })[0]).toMatch(
    /^bomb\.yaml:1: aliases/,
  );
  expect(refusal({ "self.yaml": "version: 1\nobjects: &a [*a]\n" })[0]).toMatch(
    /^self\.yaml:1: aliases/,
  );
});

test("JSON that is nested without end is refused, not walked", () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  expect(refusal({ "a.json": `{"version": 1, "objects": ${deep}}` })[0]).toMatch(
    /at most 100 levels$/,
  );
  expect(
    refusal({ "b.json": `{"apiVersion": "v1", "kind": "Node", "metadata": ${deep}}` })[0],
  ).toMatch(/^b\.json/);
});
