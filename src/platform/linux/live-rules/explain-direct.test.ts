import { expect, test } from "vitest";
import { endpointSchema } from "../../../core/model/endpoint.ts";
import type { Packet } from "../../../core/route/packet.ts";
import type { Verdict } from "../../../core/route/verdict.ts";
import { explainDirect, explainFindings } from "./explain-direct.ts";

const PACKET: Packet = {
  protocol: "TCP",
  src: "192.0.2.1",
  dst: "10.96.0.1",
  dstPort: 80,
  from: "node",
};

const SHARES = [
  { address: "10.1.0.1", port: 8080, probability: 0.25 },
  { address: "10.1.0.2", port: 8080, probability: 0.75 },
];

function verdictOf(...shares: readonly (readonly [string, number])[]): Verdict {
  const candidates = shares.map(([address, probability]) => ({
    endpoint: endpointSchema.parse({
      kind: "Endpoint",
      name: "x",
      group: "web",
      addresses: [address],
    }),
    address,
    targetPort: 8080,
    probability,
    masquerade: true,
  }));
  const matched = { type: "cluster-ip", service: "default/web", port: undefined } as const;
  return { kind: "endpoints", matched, candidates, reasons: [], others: [] };
}

test("says where a program leads, and what is not as the reference has it", () => {
  const { lines, differencesFrom } = explainFindings(
    [{ program: "81 portolan_conn4", shares: SHARES }],
    PACKET,
  );
  expect(lines).toEqual([
    "connect(2): program 81 portolan_conn4 leads 10.96.0.1:80 to",
    "  25 %: 10.1.0.1:8080",
    "  75 %: 10.1.0.2:8080",
    "other sockets, such as those bound to an address, meet the rules:",
  ]);
  expect(differencesFrom(verdictOf(["10.1.0.1", 0.25], ["10.1.0.2", 0.75]))).toEqual([]);
  expect(differencesFrom(verdictOf(["10.1.0.2", 1]))).toEqual([
    "connect(2) leads to 10.1.0.2:8080: 75 %, where the reference says 100 %",
    "connect(2) leads to 10.1.0.1:8080: 25 %, where the reference says 0 %",
  ]);
});

test("says that a program leaves an address to the rules", () => {
  const { lines, differencesFrom } = explainFindings(
    [{ program: "81 portolan_conn4", shares: undefined }],
    PACKET,
  );
  expect(lines).toEqual(["connect(2): program 81 portolan_conn4 leaves 10.96.0.1:80 to the rules"]);
  expect(differencesFrom(verdictOf(["10.1.0.2", 1]))).toEqual([]);
});

test("says which workloads a program is for", () => {
  const { lines } = explainFindings([{ program: "83 portolan_wconn4", shares: SHARES }], {
    ...PACKET,
    from: "workload",
  });
  expect(lines.at(-1)).toBe(
    "workloads outside of the cgroup of --direct-connect-workloads, and sockets bound to an address, meet the rules:",
  );
});

test("packets of others, and other protocols, meet no connect(2) here", async () => {
  for (const packet of [
    { ...PACKET, from: "outside" },
    { ...PACKET, protocol: "UDP" },
  ] as const) {
    expect((await explainDirect(packet)).lines).toEqual([]);
  }
});
