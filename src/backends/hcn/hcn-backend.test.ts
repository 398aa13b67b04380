import { expect, test } from "vitest";
import { parseEndpoint } from "../../platform/windows/endpoint.ts";
import { isOwnGuid } from "../../platform/windows/guid.ts";
import { FaultyCalls, UNEXPECTED } from "./faulty-calls.fixture.ts";
import {
  endpoint,
  NETWORK_ID,
  networkJson,
  opsOf,
  optionsOf,
  seedLocal,
  service,
  TestWorld,
  testContext,
} from "./hcn-rig.fixture.ts";
import {
  balancersIn,
  createFake,
  OTHERS_BALANCER,
  OTHERS_ID,
  ownOf,
  remoteIps,
  start,
} from "./hcn-view.fixture.ts";
import { previewHcn } from "./preview.ts";

test("every address of a service gets its load balancer, with the flags that it needs", async () => {
  const fake = createFake();
  const pod = seedLocal(fake, "10.1.0.5");
  const { feed, backend } = await start(fake, { enableDsr: true });
  await feed.apply(
    service("web", {
      type: "LoadBalancer",
      clusterIPs: ["10.96.0.1", "fd96::1"],
      externalIPs: ["198.51.100.1"],
      loadBalancerIPs: ["203.0.113.1"],
      externalTrafficPolicy: "Local",
      affinitySeconds: 60,
      ports: [{ port: 80, nodePort: 30080, targetPort: 8080 }],
      annotations: { "preserve-destination": "true" },
    }),
    endpoint("web", "10.1.0.5", { node: "here" }),
    endpoint("web", "10.1.2.1"),
  );
  expect(balancersIn(fake)).toEqual([
    "TCP 10.96.0.1:80 -> 10.1.0.5,10.1.2.1:8080 dsr source-ip",
    "TCP 198.51.100.1:80 -> 10.1.0.5:8080 vipExternalIp dsr source-ip",
    "TCP 203.0.113.1:80 -> 10.1.0.5:8080 useMux preserveDip vipExternalIp dsr source-ip",
    "TCP node:30080 -> 10.1.0.5:8080 localRoutedVip vipExternalIp dsr source-ip",
  ]);
  expect(remoteIps(fake)).toEqual(["10.1.2.1"]);
  expect(fake.all("Endpoint").has(pod)).toBe(true);
  const { summary, notHonoured } = backend.status();
  expect(summary).toBe("4 load balancers, 1 remote endpoints, on cbr0 (L2Bridge, HNS 15.5)");
  expect(notHonoured.join()).toMatch(/no time-out for affinity/);
});

test("families and features of an older HNS: one family, no affinity, no change in place", async () => {
  const fake = createFake({ major: 10, minor: 1 });
  const { feed, backend } = await start(fake, { enableDsr: true });
  const web = service("web", {
    clusterIPs: ["10.96.0.1", "fd96::1"],
    affinitySeconds: 5,
    annotations: { "preserve-destination": "true" },
  });
  await feed.apply(web, endpoint("web", "10.1.2.1"));
  await feed.apply(web, endpoint("web", "10.1.2.2"));
  expect(balancersIn(fake)).toEqual(["TCP 10.96.0.1:80 -> 10.1.2.2:8080"]);
  expect(remoteIps(fake)).toEqual(["10.1.2.2"]);
  const told = backend.status().notHonoured.join();
  expect(told).toMatch(/affinity needs HNS 12.0/);
  expect(told).toMatch(/direct server return needs HNS 10.2/);
  expect(told).toMatch(/to preserve the destination needs HNS 10.2/);
  expect(
    String(
      backend
        .metrics?.()
        .find(({ name }) => name === "hcn_calls_total")
        ?.samples.map(({ labels }) => labels["call"]),
    ),
  ).not.toContain("modify");
});

test("IPv6 beside IPv4 where network and HNS have both", async () => {
  const fake = createFake();
  const { feed } = await start(fake);
  await feed.apply(
    service("web", { clusterIPs: ["10.96.0.1", "fd96::1"] }),
    endpoint("web", "10.1.2.1"),
    endpoint("web", "fd02::1"),
  );
  expect(balancersIn(fake)).toEqual([
    "TCP 10.96.0.1:80 -> 10.1.2.1:8080",
    "TCP fd96::1:80 -> fd02::1:8080",
  ]);
});

test("on an overlay network: source VIP, cluster IPs as endpoints, and the node behind which each is", async () => {
  const route = {
    DestinationPrefix: "10.1.2.0/24",
    IsolationId: 4096,
    ProviderAddress: "192.0.2.2",
  };
  const overlay = networkJson({
    Type: "Overlay",
    Policies: [{ Type: "RemoteSubnetRoute", Settings: route }],
  });
  const fake = createFake(undefined, overlay);
  const { feed } = await start(fake, { sourceVip: "10.1.0.2" });
  await feed.apply(service("web"), endpoint("web", "10.1.2.1"));
  const endpoints = ownOf(fake, "Endpoint").map((json) => parseEndpoint(json));
  const facts = endpoints.map(({ addresses, macAddress, providerAddress, isRemote }) =>
    [addresses[0]?.address, macAddress, providerAddress, isRemote].join(" "),
  );
  expect(facts.sort()).toEqual([
    "10.1.0.2 00-15-5D-00-00-01  false",
    "10.1.2.1 02-11-0A-01-02-01 192.0.2.2 true",
    "10.96.0.1 00-15-5D-00-00-01 192.0.2.1 true",
  ]);
  expect(balancersIn(fake)).toEqual(["TCP 10.96.0.1:80 -> 10.1.2.1:8080 10.1.0.2"]);
  // What is outside of the overlay answers the node alone.
  await feed.apply(service("web"), endpoint("web", "198.51.100.7"));
  expect(balancersIn(fake)).toEqual(["TCP 10.96.0.1:80 -> 198.51.100.7:8080 192.0.2.1"]);
  const { feed: poor } = await start(createFake(undefined, overlay));
  await expect(poor.apply(service("web"))).rejects.toThrow(/--source-vip: missing/);
});

test("an endpoint of two services is one object, until both are gone", async () => {
  const fake = createFake();
  const { feed } = await start(fake);
  const web = service("web");
  const shop = service("shop", { clusterIPs: ["10.96.0.2"] });
  await feed.apply(web, shop, endpoint("web", "10.1.2.1"), endpoint("shop", "10.1.2.1"));
  expect(remoteIps(fake)).toEqual(["10.1.2.1"]);
  await feed.apply(web, endpoint("web", "10.1.2.1"));
  expect(remoteIps(fake)).toEqual(["10.1.2.1"]);
  await feed.apply();
  expect([remoteIps(fake), balancersIn(fake)]).toEqual([[], []]);
  expect(fake.all("LoadBalancer").get(OTHERS_ID)).toBe(OTHERS_BALANCER);
});

test("a local endpoint that comes late is found, and its address may come back as another", async () => {
  const fake = createFake();
  const { feed, backend, world } = await start(fake);
  const pod = endpoint("web", "10.1.0.5", { node: "here" });
  await feed.apply(service("web"), pod);
  expect(balancersIn(fake)).toEqual([]);
  expect(backend.status().notHonoured.join()).toContain("no endpoint on this node has 10.1.0.5");
  const first = seedLocal(fake, "10.1.0.5");
  await world.check();
  expect(balancersIn(fake)).toEqual(["TCP 10.96.0.1:80 -> 10.1.0.5:8080"]);
  await feed.apply(service("web"));
  fake.remove("Endpoint", first);
  const [second, third] = [1, 2].map((number) => `44444444-0000-4000-8000-00000000000${number}`);
  const seedAs = (ID = "") => {
    const IpConfigurations = [{ IpAddress: "10.1.0.5" }];
    fake.seed(
      "Endpoint",
      ID,
      JSON.stringify({ ID, HostComputeNetwork: NETWORK_ID, IpConfigurations }),
    );
  };
  seedAs(second);
  await feed.apply(service("web"), pod);
  expect(balancersIn(fake)).toEqual(["TCP 10.96.0.1:80 -> 10.1.0.5:8080"]);
  // Also where the state does not tell of it.
  fake.remove("Endpoint", second ?? "");
  seedAs(third);
  await world.fullCheck();
  expect(balancersIn(fake)).toEqual(["TCP 10.96.0.1:80 -> 10.1.0.5:8080"]);
});

test("an endpoint of another network is none of this one, though it has the address", async () => {
  const fake = createFake();
  seedLocal(fake, "10.1.0.5", "0f5f6e1c-0f5e-4d5c-9f0a-2b7e8f9d1c99");
  const { feed, backend } = await start(fake);
  await feed.apply(service("web"), endpoint("web", "10.1.0.5", { node: "here" }));
  expect(balancersIn(fake)).toEqual([]);
  expect(backend.status().notHonoured.join()).toContain("no endpoint on this node has 10.1.0.5");
});

test("the calls of changes are few, and where nothing changed there are none", async () => {
  const faulty = new FaultyCalls(createFake());
  const { feed } = await start(faulty);
  const web = service("web");
  await feed.apply(web, endpoint("web", "10.1.2.1"));
  faulty.names.length = 0;
  await feed.apply(web, endpoint("web", "10.1.2.2"));
  expect(faulty.names).toEqual(["create Endpoint", "modify LoadBalancer", "delete Endpoint"]);
  await feed.again();
  expect(faulty.names).toHaveLength(3);
});

test("what an earlier run left: right ones stay untouched, others of ours go", async () => {
  const fake = createFake();
  const before = await start(fake);
  await before.feed.apply(
    service("web"),
    service("old", { clusterIPs: ["10.96.0.3"] }),
    endpoint("web", "10.1.2.1"),
    endpoint("old", "10.1.2.3"),
  );
  await before.backend.close();
  expect(before.world.isLocked).toBe(false);
  const faulty = new FaultyCalls(fake);
  const { feed, backend } = await start(faulty);
  await feed.apply(service("web"), endpoint("web", "10.1.2.1"));
  expect(faulty.names.filter((name) => /^(create|modify|delete)/.test(name))).toEqual([
    "delete LoadBalancer",
    "delete Endpoint",
  ]);
  await backend.cleanup();
  await backend.cleanup();
  expect([remoteIps(fake), balancersIn(fake)]).toEqual([[], []]);
  expect(fake.all("LoadBalancer").get(OTHERS_ID)).toBe(OTHERS_BALANCER);
});

test("a network that is made anew, an HNS that restarts, and what others removed: all comes back", async () => {
  const fake = createFake();
  const { feed, world, backend } = await start(fake);
  await feed.apply(service("web"), endpoint("web", "10.1.2.1"));
  const wanted = balancersIn(fake);
  fake.removeNetwork(NETWORK_ID);
  await world.check();
  expect(balancersIn(fake)).toEqual([]);
  const other = "0f5f6e1c-0f5e-4d5c-9f0a-2b7e8f9d1c99";
  fake.seed("Network", other, networkJson({ ID: other }));
  await world.check();
  expect(balancersIn(fake)).toEqual(wanted);
  for (const kind of ["LoadBalancer", "Endpoint"] as const) {
    for (const id of [...fake.all(kind).keys()]) if (isOwnGuid(id)) fake.remove(kind, id);
  }
  fake.notify("service-gone");
  await world.check();
  expect(balancersIn(fake)).toEqual(wanted);
  for (const id of [...fake.all("LoadBalancer").keys()])
    if (isOwnGuid(id)) fake.remove("LoadBalancer", id);
  await world.fullCheck();
  expect(balancersIn(fake)).toEqual(wanted);
  expect(
    backend.metrics?.().find(({ name }) => name === "hcn_repairs_total")?.samples[0]?.value,
  ).toBe(1);
});

test("an HNS that restarts again and again is heard each time, also one that was not there at first", async () => {
  const fake = createFake();
  fake.isRunning = false;
  const { feed, world, backend } = await start(fake);
  await expect(feed.apply(service("web"), endpoint("web", "10.1.2.1"))).rejects.toThrow(
    /HNS does not answer: Start-Service hns/,
  );
  fake.isRunning = true;
  await world.check();
  const wanted = ["TCP 10.96.0.1:80 -> 10.1.2.1:8080"];
  expect(balancersIn(fake)).toEqual(wanted);
  for (const _ of [1, 2, 3]) {
    fake.restart();
    expect(balancersIn(fake)).toEqual([]);
    // No period passes: what HNS says is acted on by itself.
    await backend.sink.send({ op: "sync" });
    expect(balancersIn(fake)).toEqual(wanted);
  }
});

test("a service that goes while HNS is away does not come back with it", async () => {
  const fake = createFake();
  const { feed, world } = await start(fake);
  const shop = service("shop", { clusterIPs: ["10.96.0.2"] });
  const left = [service("web"), endpoint("web", "10.1.2.1")];
  await feed.apply(...left, shop, endpoint("shop", "10.1.2.2"));
  fake.isRunning = false;
  fake.restart();
  await expect(feed.apply(...left)).rejects.toThrow(/HNS does not answer/);
  fake.isRunning = true;
  await world.check();
  expect(balancersIn(fake)).toEqual(["TCP 10.96.0.1:80 -> 10.1.2.1:8080"]);
  expect(remoteIps(fake)).toEqual(["10.1.2.1"]);
});

test("an address and port of somebody else's is refused, told, and holds up nobody", async () => {
  const fake = createFake();
  const { feed } = await start(fake);
  const taken = service("taken", {
    clusterIPs: ["10.96.9.9"],
    ports: [{ port: 1, targetPort: 1 }],
  });
  const objects = [
    taken,
    service("web"),
    endpoint("taken", "10.1.2.9"),
    endpoint("web", "10.1.2.1"),
  ];
  await expect(feed.apply(...objects)).rejects.toThrow(/0x803b0013 \(port-exists\)/);
  expect(balancersIn(fake)).toEqual(["TCP 10.96.0.1:80 -> 10.1.2.1:8080"]);
  fake.remove("LoadBalancer", OTHERS_ID);
  await feed.again();
  expect(balancersIn(fake)).toHaveLength(2);
});

test("cleanup tells what HNS refuses to remove, and removes the others", async () => {
  const fake = createFake();
  const faulty = new FaultyCalls(fake);
  const { feed, backend } = await start(faulty);
  const shop = service("shop", { clusterIPs: ["10.96.0.2"] });
  await feed.apply(service("web"), shop, endpoint("web", "10.1.2.1"), endpoint("shop", "10.1.2.1"));
  faulty.names.length = 0;
  // The list, and then the first of two.
  faulty.fault = { at: 1, when: "before", hresult: UNEXPECTED };
  await expect(backend.cleanup()).rejects.toThrow(/delete LoadBalancer failed: 0x8000ffff/);
  expect([balancersIn(fake).length, remoteIps(fake)]).toEqual([1, ["10.1.2.1"]]);
  faulty.fault = undefined;
  await backend.cleanup();
  expect(balancersIn(fake)).toEqual([]);
});

test("a dry run works everywhere: a network is assumed, and the JSON is what would be sent", async () => {
  const objects = [
    service("web"),
    endpoint("web", "10.1.0.5", { node: "here" }),
    endpoint("web", "10.1.2.1"),
  ];
  const noHcn = new TestWorld(createFake());
  const { script, unread } = await previewHcn(
    optionsOf({ networkName: undefined }),
    testContext(),
    opsOf(objects),
    noHcn,
  );
  expect(unread).toBe("no --network-name was given");
  const lines = script.trim().split("\n");
  expect(lines.map((line) => line.split(" ")[0])).toEqual([
    "HcnCreateEndpoint",
    "HcnCreateLoadBalancer",
  ]);
  expect(JSON.parse(lines[1]?.split(" ").slice(2).join(" ") ?? "")).toMatchObject({
    FrontendVIPs: ["10.96.0.1"],
  });

  const fake = createFake();
  seedLocal(fake, "10.1.0.5");
  const { feed } = await start(fake);
  await feed.apply(...objects);
  const before = [...fake.all("LoadBalancer")];
  const there = await previewHcn(optionsOf(), testContext(), opsOf(objects), new TestWorld(fake));
  expect(there).toEqual({ script: "" });
  const less = await previewHcn(optionsOf(), testContext(), opsOf([]), new TestWorld(fake));
  expect(less.script).toMatch(/^HcnDeleteLoadBalancer \S+\nHcnDeleteEndpoint \S+\n$/);
  expect([...fake.all("LoadBalancer")]).toEqual(before);
});
