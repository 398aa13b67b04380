import { expect, test } from "vitest";
import { FAMILIES, type Family } from "../core/model/address.ts";
import { endpointSchema } from "../core/model/endpoint.ts";
import { serviceSchema } from "../core/model/service.ts";
import { directClaims } from "./direct-entries.ts";
import { fullStateOf } from "./full-state.fixture.ts";

const ENDPOINTS = [1, 2].map((number) =>
  endpointSchema.parse({
    kind: "Endpoint",
    name: `web-${number}`,
    group: "web",
    node: `node-${number === 1 ? "a" : "b"}`,
    addresses: [`10.1.0.${number}`, `fd00:1::${number}`],
    weight: number,
  }),
);

async function claimsOf(
  more: object,
  isRandom = true,
  families: readonly Family[] = FAMILIES,
  endpoints = ENDPOINTS,
): Promise<readonly string[]> {
  const service = serviceSchema.parse({
    kind: "Service",
    name: "web",
    clusterIPs: ["10.96.0.1", "fd00:96::1"],
    ports: [{ port: 80, targetPort: 8080 }],
    ...more,
  });
  const item = (await fullStateOf([service, ...endpoints])).services.get("default/web");
  if (item === undefined) throw new Error("no service");
  return directClaims(item, isRandom, families).map(({ place, entry }) => {
    const targets = entry?.targets.map(({ ip, share }) => `${ip} ${share.toFixed(2)}`);
    return `${place.ip} ${place.port}: ${targets?.join(", ") ?? "rules"}`;
  });
}

test("cluster IPs of both families, with their endpoints by weight", async () => {
  expect(await claimsOf({})).toEqual([
    "10.96.0.1 80: 10.1.0.1 0.33, 10.1.0.2 0.67",
    "fd00:96::1 80: fd00:1::1 0.33, fd00:1::2 0.67",
  ]);
});

test("the internal traffic policy holds", async () => {
  const [first] = await claimsOf({ internalTrafficPolicy: "Local" });
  expect(first).toBe("10.96.0.1 80: 10.1.0.1 1.00");
});

test("what only the rules can do is left to them", async () => {
  const byRules = ["10.96.0.1 80: rules", "fd00:96::1 80: rules"];
  expect(await claimsOf({ affinitySeconds: 10 })).toEqual(byRules);
  expect(await claimsOf({}, false)).toEqual(byRules);
  expect(await claimsOf({}, true, FAMILIES, [])).toEqual(byRules);
  expect((await claimsOf({}, true, ["v4"]))[1]).toBe("fd00:96::1 80: rules");
});

test("other protocols claim nothing, and other addresses only themselves", async () => {
  const ports = [
    { name: "dns", port: 53, protocol: "UDP" },
    { name: "assoc", port: 80, protocol: "SCTP" },
  ];
  expect(await claimsOf({ ports })).toEqual([]);
  const more = { clusterIPs: [], externalIPs: ["192.0.2.7"], loadBalancerIPs: ["192.0.2.8"] };
  expect(await claimsOf(more)).toEqual(["192.0.2.7 80: rules", "192.0.2.8 80: rules"]);
});
