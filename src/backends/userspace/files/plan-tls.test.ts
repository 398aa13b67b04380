import { expect, test } from "vitest";
import { listenerSchema } from "../../../core/model/listener.ts";
import type { NodeFacts } from "../node-facts.ts";
import type { FileEntry } from "./file-entry.ts";
import { planTls } from "./plan-tls.ts";

const FACTS: NodeFacts = {
  nodeName: "node-a",
  machineAddresses: new Set(),
  nodePortAddresses: "primary",
};
const A = { key: "default/a", certPem: "cert", keyPem: "key" };

function plan(
  tls: object | undefined,
  more: {
    readonly a?: FileEntry<typeof A>;
    readonly ca?: FileEntry<string>;
    readonly mode?: string;
    readonly facts?: NodeFacts;
  } = {},
) {
  const listener = listenerSchema.parse({
    kind: "Listener",
    name: "front",
    address: "127.0.0.1",
    port: 443,
    service: "default/web",
    mode: more.mode ?? "tcp",
    ...(tls && { tls }),
  });
  const certificates = new Map([["default/a", more.a ?? { value: A, problem: "" }]]);
  const clientCas = new Map(more.ca === undefined ? [] : [["/ca", more.ca]]);
  const objects = new Map<string, never>();
  return planTls(listener, { certificates, clientCas, objects }, more.facts ?? FACTS);
}

const ONE = { certificates: ["default/a"] };
const BOTH = { certificates: ["default/a", "default/b"] };
const GUARDED = { ...ONE, clientCaFile: "/ca" };

test("no TLS is none", () => {
  expect(plan(undefined)).toEqual({ tls: undefined, notes: [] });
});

test("certificates by their keys", () => {
  expect(plan(ONE)).toEqual({
    tls: { certificates: ["default/a"], clientCaPem: "", peers: [] },
    notes: [],
  });
});

test("those that can not be used are left out and told; where none is left it stays closed", () => {
  expect(plan(BOTH)).toEqual({
    tls: { certificates: ["default/a"], clientCaPem: "", peers: [] },
    notes: ["Certificate default/b: there is none of that name"],
  });
  expect(plan(ONE, { a: { value: undefined, problem: "/c: ENOENT" } })).toEqual({
    tls: undefined,
    obstacle: "Certificate default/a: /c: ENOENT",
    notes: [],
  });
});

test("what was good before is kept, and said", () => {
  expect(plan(ONE, { a: { value: A, problem: "/k: wrong" } }).notes).toEqual([
    "Certificate default/a: /k: wrong; what was there before is kept",
  ]);
});

test("a listener whose clients could not be told from strangers stays closed", () => {
  expect(plan(GUARDED)).toMatchObject({ obstacle: "clientCaFile /ca: not read yet" });
  expect(plan(GUARDED, { ca: { value: undefined, problem: "ENOENT" } })).toMatchObject({
    tls: undefined,
    obstacle: "clientCaFile /ca: ENOENT",
  });
  expect(plan(GUARDED, { ca: { value: "ca", problem: "" } }).tls?.clientCaPem).toBe("ca");
});

test("not for datagrams, and not where it can not be", () => {
  expect(plan(ONE, { mode: "udp" })).toMatchObject({ obstacle: "TLS is not for mode udp" });
  const facts = { ...FACTS, tlsObstacle: "not here" };
  expect(plan(ONE, { facts })).toMatchObject({ tls: undefined, obstacle: "not here" });
});
