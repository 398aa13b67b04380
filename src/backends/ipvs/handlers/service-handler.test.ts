import { expect, test } from "vitest";
import { entryText } from "../../../wire/netlink/ipset/ip-set.ts";
import type { SetKey } from "../glue/set-names.ts";
import type { Entrance, ServiceInfo, ServiceType } from "../plan/service-info.ts";
import type { Claimant } from "./claimant.ts";
import { createHandlers } from "./create-handlers.ts";

interface Claims {
  readonly addresses: readonly string[];
  /** Entries of one set, in the order in which they are claimed. */
  of(set: SetKey): readonly string[];
}

/** What the handler of a type claims for a service with one entrance. */
function claimsOf(type: ServiceType, access: Entrance["access"]): Claims {
  const addresses: string[] = [];
  const entries: (readonly [SetKey, string])[] = [];
  const claimant: Claimant = {
    server: () => undefined,
    lingering: () => undefined,
    destination: () => undefined,
    address: (_, ip) => void addresses.push(ip),
    entry: (_, set, entry) => void entries.push([set, entryText(entry)]),
    marksOf: (mark) => [mark],
  };
  const service: ServiceInfo = {
    id: "v4 default/web",
    service: "default/web",
    type,
    family: "v4",
    balancing: { scheduler: "wrr", flags: 0, persistenceSeconds: 0 },
    entrances: [
      {
        kind: "load-balancer-ip",
        protocol: "TCP",
        ip: "192.0.2.60",
        port: 80,
        isNodes: false,
        list: "cluster",
        outcome: "served",
        insideMark: undefined,
        access,
      },
    ],
    healthCheckPort: 0,
  };
  createHandlers(claimant)[type].service.Create(service);
  const of = (set: SetKey) => entries.filter(([key]) => key === set).map(([, text]) => text);
  return { addresses, of };
}

test("who may call: the first who speaks of a network decides, and words about other addresses do not count", () => {
  const claims = claimsOf("LoadBalancer", {
    entries: [
      { network: "10.1.0.0/16", access: "deny" },
      { network: "10.1.0.0/16", access: "allow" },
      { network: "10.0.0.0/8", access: "allow" },
      { network: "192.0.2.60/32", access: "allow", destination: "192.0.2.60/32" },
      { network: "192.0.2.61/32", access: "allow", destination: "192.0.2.61/32" },
    ],
    otherwise: "deny",
  });
  expect(claims.of("allowed")).toEqual([
    "192.0.2.60,tcp:80,10.1.0.0/16 nomatch",
    "192.0.2.60,tcp:80,10.0.0.0/8",
    "192.0.2.60,tcp:80,192.0.2.60",
  ]);
  expect(claims.of("guarded")).toEqual(["192.0.2.60,tcp:80"]);
});

test("where all others are let in, everyone is in the set", () => {
  const claims = claimsOf("Listener", {
    entries: [{ network: "10.1.0.0/16", access: "deny" }],
    otherwise: "allow",
  });
  expect(claims.of("allowed")).toEqual([
    "192.0.2.60,tcp:80,10.1.0.0/16 nomatch",
    "192.0.2.60,tcp:80,0.0.0.0/1",
    "192.0.2.60,tcp:80,128.0.0.0/1",
  ]);
});

test("this machine is given the addresses of all types but node ports", () => {
  for (const type of ["ClusterIP", "LoadBalancer", "Listener"] as const) {
    expect(claimsOf(type, undefined).addresses).toEqual(["192.0.2.60"]);
  }
  expect(claimsOf("NodePort", undefined).addresses).toEqual([]);
});
