import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FAMILIES, type Family } from "../../src/core/model/address.ts";
import { PROTOCOLS } from "../../src/core/model/common.ts";
import { TOPOLOGY } from "../../src/core/route/scenarios/topology.ts";
import { requires } from "../support/requires.ts";
import type { CallOutcome } from "./call.ts";
import { type Greeting, parseGreeting } from "./greeting.ts";
import type { PartyName } from "./plan-network.ts";
import { Stage } from "./stage.ts";

const { clusterIP, workloads, nodes, outside, targetPort } = TOPOLOGY;

/** What the rules below do with each port of the cluster IP. */
const PORTS = { served: 80, rejected: 81, dropped: 82, untouched: 83 } as const;

const DNAT = FAMILIES.map((family) => {
  const ip = family === "v4" ? "ip" : "ip6";
  const to =
    family === "v4" ? workloads["web-b"].addresses.v4 : `[${workloads["web-b"].addresses.v6}]`;
  const ports = `meta l4proto { tcp, udp, sctp } th dport ${PORTS.served}`;
  return `${ip} daddr ${clusterIP[family]} ${ports} dnat ${ip} to ${to}:${targetPort};`;
}).join("\n");
const FILTER = `th dport ${PORTS.rejected} reject; th dport ${PORTS.dropped} drop;`;
const RULES = `table inet stage {
  chain prerouting-nat { type nat hook prerouting priority -100; ${DNAT} }
  chain output-nat { type nat hook output priority -100; ${DNAT} }
  chain postrouting-nat { type nat hook postrouting priority 100; ct status dnat masquerade; }
  chain forward-filter { type filter hook forward priority 0; ${FILTER} }
  chain output-filter { type filter hook output priority 0; ${FILTER} }
}`;

const CALLERS: readonly (readonly [PartyName, Readonly<Record<Family, string>>])[] = [
  ["outside", outside],
  ["node-a", nodes["node-a"].addresses],
  ["client-a", workloads["client-a"].addresses],
];

function greetingIn(outcome: CallOutcome | undefined): Greeting {
  if (outcome?.kind !== "answered") throw new Error(`not answered: ${JSON.stringify(outcome)}`);
  return parseGreeting(outcome.text);
}

describe("what becomes of a packet is told right", requires("linux", "root", "ip", "nft"), () => {
  let stage: Stage;
  beforeAll(() => {
    stage = Stage.open();
    stage.network.exec("node-a", "nft", ["-f", "-"], RULES);
  });
  afterAll(() => stage.close());

  for (const [party, addresses] of CALLERS) {
    for (const protocol of PROTOCOLS) {
      for (const family of FAMILIES) {
        const call = { party, protocol, from: addresses[family], to: clusterIP[family] };

        test(`${protocol} ${family} from ${party}`, async () => {
          const ip = call.to;
          const port = PORTS.untouched;
          const catcher = stage.serve({ party: "beyond", protocol, ip, port, isCatcher: true });
          // One after the other: a refusal of SCTP is heard by all who call the same address.
          const [served] = await stage.call([{ ...call, port: PORTS.served }]);
          const [rejected] = await stage.call([{ ...call, port: PORTS.rejected }]);
          const [untouched] = await stage.call([{ ...call, port: PORTS.untouched }]);
          const [dropped] = await stage.callInVain([{ ...call, port: PORTS.dropped }]);
          catcher?.close();
          const { at, port: servedPort, source, isCatcher } = greetingIn(served);
          expect({ at, servedPort, isCatcher }).toEqual({
            at: workloads["web-b"].addresses[family],
            servedPort: targetPort,
            isCatcher: false,
          });
          expect(source).not.toBe(call.from);
          expect(rejected).toEqual({ kind: "refused", error: "ECONNREFUSED" });
          expect(greetingIn(untouched)).toMatchObject({
            at: ip,
            port,
            source: call.from,
            isCatcher: true,
          });
          expect(dropped).toEqual({ kind: "silence" });
        });
      }
    }
  }

  test("everyone reaches everyone through the node without rules in between", async () => {
    const places = Object.values(workloads).flatMap(({ addresses }) =>
      FAMILIES.map((family) => [family, addresses[family]] as const),
    );
    for (const [party, addresses] of CALLERS) {
      const outcomes = await stage.call(
        places.map(([family, to]) => ({
          party,
          protocol: "TCP",
          from: addresses[family],
          to,
          port: targetPort,
        })),
      );
      expect(outcomes.map((outcome) => greetingIn(outcome).at)).toEqual(places.map(([, to]) => to));
    }
  });

  test("who is called meanwhile does not make of silence a lost answer", async () => {
    const call = { party: "outside", protocol: "TCP", from: outside.v4, to: clusterIP.v4 } as const;
    const [[dropped], [served]] = await Promise.all([
      stage.callInVain([{ ...call, port: PORTS.dropped }]),
      stage.call([{ ...call, port: PORTS.served }]),
    ]);
    expect(dropped).toEqual({ kind: "silence" });
    expect(served?.kind).toBe("answered");
  });

  test("a packet that arrives and whose answer is lost is not taken for dropped", async () => {
    const lossy = `table inet lossy {
      chain back { type filter hook prerouting priority -300; iifname "eth-node-c" drop; }
    }`;
    stage.network.exec("node-a", "nft", ["-f", "-"], lossy);
    const to = workloads["web-c"].addresses.v4;
    const call = {
      party: "outside",
      protocol: "UDP",
      from: outside.v4,
      to,
      port: targetPort,
    } as const;
    await expect(stage.callInVain([call])).rejects.toThrow("its answer did not come back");
    stage.network.exec("node-a", "nft", ["delete", "table", "inet", "lossy"]);
  });
});
