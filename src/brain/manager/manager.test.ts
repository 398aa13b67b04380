import { generateKeyPairSync, randomBytes } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { parseKind } from "../../core/model/parse.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { type AddressPlan, DEFAULT_ADDRESS_PLAN } from "../allocation/address-plan.ts";
import { Authority, createAuthority } from "../identity/authority.ts";
import type { Pulse } from "./ledger.ts";
import { Manager } from "./manager.ts";
import { MemoryLedger } from "./memory-ledger.fixture.ts";
import { deploySchema, joinSchema, renewSchema } from "./message-schemas.ts";
import type { JoinRequest } from "./messages.ts";

const silent = (): void => undefined;
const log = { debug: silent, info: silent, warn: silent, error: silent };
let authority: Authority;

beforeAll(async () => {
  authority = await Authority.open(await createAuthority("portolan", Date.now()));
});

/** Everyone is alive who was not told to be dead. */
class ToldPulse implements Pulse {
  readonly dead = new Set<string>();
  #onChange: (node: string) => void = silent;
  follow(onChange: (node: string) => void): void {
    this.#onChange = onChange;
  }
  isAlive(node: string): boolean {
    return !this.dead.has(node);
  }
  welcome(node: string): Promise<void> {
    return this.renew(node);
  }
  async renew(node: string): Promise<void> {
    if (this.dead.delete(node)) this.#onChange(node);
  }
  async forget(): Promise<void> {}
  close(): void {}
  die(node: string): void {
    this.dead.add(node);
    this.#onChange(node);
  }
}

function world(plan: AddressPlan = DEFAULT_ADDRESS_PLAN, store: GlobalStore = new GlobalStore()) {
  const ledger = new MemoryLedger();
  const pulse = new ToldPulse();
  const manager = new Manager({
    store,
    ledger,
    pulse,
    authority,
    plan,
    timeoutMs: 5000,
    certificateMs: 3_600_000,
    managers: () => ["192.0.2.10:12090"],
    serviceCertificateMs: 600_000,
    nowMs: () => Date.now(),
    randomBytes,
    log,
  });
  return { store, ledger, pulse, manager };
}

function newKey(): string {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return String(publicKey.export({ format: "pem", type: "spki" }));
}

async function tokenOf(manager: Manager, uses = -1): Promise<string> {
  const { token } = await manager.tokens.create({
    lifetimeMs: 60_000,
    uses,
    note: "",
    service: "",
  });
  return token;
}

async function joining(manager: Manager, node: string): Promise<JoinRequest> {
  const token = await tokenOf(manager);
  return joinSchema.parse({ token, node, publicKey: newKey(), addresses: ["192.0.2.1"] });
}

const web = (instance: number, more: object = {}) =>
  deploySchema.parse({ service: "default/web", instance, addresses: ["10.18.0.2"], ...more });

test("a node that joins has networks, and has them again when it comes back", async () => {
  const { manager, store } = world();
  const request = await joining(manager, "a");
  const first = await manager.join(request);
  expect(first).toMatchObject({ subnets: ["10.18.0.0/26", "fc00::/120"], renewEveryMs: 1666 });
  expect(store.get("Node", "a")).toMatchObject({ alive: true, addresses: ["192.0.2.1"] });
  expect((await manager.join(await joining(manager, "b"))).subnets[0]).toBe("10.18.0.64/26");
  expect((await manager.join(request)).subnets).toEqual(first.subnets);
  await manager.leave("a");
  expect(store.get("Node", "a")).toBeUndefined();
});

test("a token that is used up is refused, and nothing is given for it", async () => {
  const { manager, store } = world();
  const token = await tokenOf(manager, 1);
  const request = (node: string) => joinSchema.parse({ token, node, publicKey: newKey() });
  const outcomes = await Promise.allSettled([
    manager.join(request("a")),
    manager.join(request("b")),
  ]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(store.state().nodes.size).toBe(1);
  const [{ id } = { id: "" }] = manager.tokens.list();
  await manager.tokens.revoke({ id });
  await expect(manager.join(request("c"))).rejects.toThrow("it is not known here, or was revoked");
});

test("a node that was removed has its networks again where nobody else has them", async () => {
  const { manager } = world();
  const subnets = ["10.18.0.0/26", "fc00::/120"];
  await manager.join(await joining(manager, "a"));
  await manager.leave("a");
  const again = { ...(await joining(manager, "a")), subnets };
  expect((await manager.join(again)).subnets).toEqual(subnets);
  const other = { ...(await joining(manager, "b")), subnets };
  expect((await manager.join(other)).subnets).toEqual(["10.18.0.64/26", "fc00::100/120"]);
  const elsewhere = { ...(await joining(manager, "c")), subnets: ["192.168.0.0/26", "fc00::/64"] };
  expect((await manager.join(elsewhere)).subnets).toEqual(["10.18.0.128/26", "fc00::200/120"]);
});

test("nobody takes the name of a node that is alive", async () => {
  const { manager, pulse } = world();
  await manager.join(await joining(manager, "a"));
  const other = await joining(manager, "a");
  await expect(manager.join(other)).rejects.toThrow("node: a is alive with another key");
  await manager.deploy("a", web(0));
  pulse.die("a");
  expect((await manager.join(other)).subnets[0]).toBe("10.18.0.0/26");
  expect(manager.table.find("web").services).toEqual([]);
});

test("an instance has the addresses of its service and one of its own, and gives them back", async () => {
  const { manager, store } = world();
  await manager.join(await joining(manager, "a"));
  const { edgeIPs } = await manager.deploy("a", web(0, { ports: [{ port: 80 }] }));
  expect(edgeIPs.map(({ address, policy }) => `${policy} ${address}`)).toEqual([
    "round-robin 10.30.0.1",
    "round-robin fdff:2000::1",
    "closest 10.30.0.2",
    "closest fdff:1000::1",
    "instance 10.30.0.3",
    "instance fdff::1",
  ]);
  const second = await manager.deploy("a", web(1));
  expect(second.edgeIPs.slice(0, 6)).toEqual(edgeIPs);
  expect(store.get("Service", "default/web")?.ports).toMatchObject([{ port: 80, targetPort: 80 }]);
  await manager.undeploy("a", { service: "default/web", instance: 0 });
  expect(store.get("Service", "default/web")?.edgeIPs.map(({ instance }) => instance)).toEqual([
    -1, -1, -1, -1, 1, 1,
  ]);
  await manager.undeploy("a", { service: "default/web", instance: 1 });
  expect(store.get("Service", "default/web")).toBeUndefined();
  expect(await manager.undeploy("a", { service: "default/web", instance: 1 })).toEqual({
    isGone: false,
  });
});

test("an instance deployed again keeps its addresses", async () => {
  const { manager } = world();
  await manager.join(await joining(manager, "a"));
  const first = await manager.deploy("a", web(0));
  expect(await manager.deploy("a", web(0, { addresses: ["10.18.0.9"] }))).toEqual(first);
});

test("addresses that are asked for are had, or refused by name", async () => {
  const { manager } = world();
  await manager.join(await joining(manager, "a"));
  const wanted = { edgeIPs: [{ address: "10.30.7.7", policy: "round-robin" }] };
  const { edgeIPs } = await manager.deploy("a", web(0, wanted));
  expect(edgeIPs.filter(({ policy }) => policy === "round-robin")).toEqual([
    { address: "10.30.7.7", policy: "round-robin", instance: -1 },
  ]);
  const other = deploySchema.parse({ ...web(0, wanted), service: "default/db" });
  await expect(manager.deploy("a", other)).rejects.toThrow(
    "edgeIPs: 10.30.7.7 can not be an address of default/db: something else has it",
  );
  const outside = web(0, { edgeIPs: [{ address: "8.8.8.8", policy: "closest" }] });
  await expect(manager.deploy("a", outside)).rejects.toThrow("8.8.8.8 lies in no range");
});

test("a dead node's instances leave all tables, and come back with it", async () => {
  const { manager, store, pulse } = world();
  await manager.join(await joining(manager, "a"));
  await manager.join(await joining(manager, "b"));
  await manager.deploy("a", web(0));
  await manager.deploy("b", web(1, { addresses: ["10.18.0.66"] }));
  const rows = () =>
    manager.table.find("default/web").services[0]?.instances.map(({ instance }) => instance);
  expect(rows()).toEqual([0, 1]);
  pulse.die("a");
  expect(rows()).toEqual([1]);
  expect(store.get("Node", "a")).toMatchObject({
    alive: false,
    subnets: ["10.18.0.0/26", "fc00::/120"],
  });
  await pulse.renew("a");
  expect(rows()).toEqual([0, 1]);
});

test("an instance moves from a dead node, not from one that lives", async () => {
  const { manager, pulse } = world();
  await manager.join(await joining(manager, "a"));
  await manager.join(await joining(manager, "b"));
  const { edgeIPs } = await manager.deploy("a", web(0));
  await expect(manager.deploy("b", web(0))).rejects.toThrow(
    "instance 0 of default/web runs on node a",
  );
  pulse.die("a");
  expect((await manager.deploy("b", web(0))).edgeIPs).toEqual(edgeIPs);
  await pulse.renew("a");
  expect(await manager.undeploy("a", { service: "default/web", instance: 0 })).toEqual({
    isGone: false,
  });
});

test("a node that leaves takes its instances and empty services along", async () => {
  const { manager, store } = world();
  await manager.join(await joining(manager, "a"));
  await manager.join(await joining(manager, "b"));
  await manager.deploy("a", web(0));
  await manager.deploy("b", web(1));
  await manager.deploy("a", deploySchema.parse({ ...web(0), service: "default/db" }));
  await manager.leave("a");
  expect([...store.state().services.keys()]).toEqual(["default/web"]);
  expect(store.get("Service", "default/web")?.edgeIPs.some(({ instance }) => instance === 0)).toBe(
    false,
  );
});

test("what a node does not name is not there any more, and nothing else goes", async () => {
  const { manager, store } = world();
  const declared = {
    name: "told",
    edgeIPs: [{ address: "10.30.9.9" }],
    groups: [{ group: "default/other" }],
  };
  store.transact("file", (tx) => tx.set(parseKind("Service", declared)));
  await manager.join(await joining(manager, "a"));
  await manager.join(await joining(manager, "b"));
  const of = (service: string, instance: number) =>
    deploySchema.parse({ ...web(instance), service: `default/${service}` });
  for (const instance of [0, 1]) await manager.deploy("a", web(instance));
  await manager.deploy("b", web(2));
  for (const instance of [0, 1]) await manager.deploy("a", of("told", instance));
  await manager.deploy("a", of("db", 0));
  const instances = ["web", "told"].map((name) => ({ service: `default/${name}`, instance: 1 }));
  const elsewhere = { service: "default/web", instance: 2 };
  expect(await manager.reconcile("a", { instances: [...instances, elsewhere] })).toEqual({
    gone: 3,
  });
  const running = ["web", "told", "db"].flatMap(
    (name) => manager.table.find(`default/${name}`).services[0]?.instances ?? [],
  );
  expect(running.map(({ name, node }) => `${name} ${node}`).sort()).toEqual([
    "other-1 a",
    "web-1 a",
    "web-2 b",
  ]);
  expect([...store.state().services.keys()].sort()).toEqual(["default/told", "default/web"]);
  const own = store.get("Service", "default/web")?.edgeIPs.map(({ instance }) => instance);
  expect([...new Set(own)].sort()).toEqual([-1, 1, 2]);
  expect(await manager.reconcile("a", { instances })).toEqual({ gone: 0 });
  await expect(manager.reconcile("nobody", { instances })).rejects.toThrow("not known here");
});

test("a service of another source keeps its addresses, and gets instances", async () => {
  const { manager, store } = world();
  const declared = { name: "web", edgeIPs: [{ address: "10.30.9.9" }] };
  store.transact("file", (tx) => tx.set(parseKind("Service", declared)));
  await manager.join(await joining(manager, "a"));
  const { edgeIPs } = await manager.deploy("a", web(0));
  expect(edgeIPs.map(({ address }) => address)).toEqual(["10.30.9.9"]);
  expect(manager.table.find("10.30.9.9").services[0]?.instances).toHaveLength(1);
});

test("the table finds services by name and address, instances by theirs, nodes by both", async () => {
  const { manager } = world();
  const tunnel = { address: "192.0.2.1:50103", publicKey: Buffer.alloc(32, 1).toString("base64") };
  await manager.join({ ...(await joining(manager, "a")), tunnel });
  await manager.deploy("a", web(0));
  const found = (query: string) => manager.table.find(query).services.map(({ service }) => service);
  for (const query of [
    "default/web",
    "web",
    "web.default",
    "10.30.0.1",
    "FDFF:2000::1",
    "10.18.0.2",
  ]) {
    expect(found(query), query).toEqual(["default/web"]);
  }
  expect(found("10.30.0.200")).toEqual([]);
  expect(manager.table.find("web").services[0]?.instances[0]).toMatchObject({ node: "a", tunnel });
  expect(manager.table.find("a").nodes).toMatchObject([{ node: "a", isAlive: true }]);
  expect(manager.table.find("10.18.0.7").nodes).toMatchObject([{ node: "a" }]);
  expect(manager.table.find("10.99.0.7")).toEqual({ services: [], nodes: [] });
});

test("what a node says of itself is changed by renewing, and only then", async () => {
  const { manager, store } = world();
  const request = await joining(manager, "a");
  await manager.join(request);
  const { revision } = store;
  await manager.renew("a", request.publicKey, { wantsCertificate: false });
  expect(store.revision).toBe(revision);
  const answer = await manager.renew("a", request.publicKey, {
    addresses: ["192.0.2.9"],
    wantsCertificate: true,
  });
  expect(answer.credentials?.certificate).toContain("BEGIN CERTIFICATE");
  expect(store.get("Node", "a")?.addresses).toEqual(["192.0.2.9"]);
  await expect(manager.renew("b", request.publicKey, { wantsCertificate: false })).rejects.toThrow(
    "node b is not known here",
  );
});

test("it counts nodes by health, what it did, and what it gave", async () => {
  const { manager, pulse } = world();
  const [a, b] = [await joining(manager, "a"), await joining(manager, "b")];
  await Promise.all([manager.join(a), manager.join(b)]);
  await manager.renew("a", a.publicKey, renewSchema.parse({}));
  await manager.deploy("a", web(0));
  pulse.die("b");
  const [{ id } = { id: "" }] = manager.tokens.list();
  await manager.tokens.revoke({ id });
  const token = [a, b].find((request) => request.token.includes(id))?.token ?? "";
  await expect(manager.join({ ...a, node: "c", token })).rejects.toThrow("revoked");
  const told = manager
    .metrics()
    .flatMap(({ name, samples }) =>
      samples.map(({ labels, value }) => [name, ...Object.values(labels), value].join(" ")),
    );
  expect(told).toEqual([
    "manager_nodes alive 1",
    "manager_nodes dead 1",
    "manager_networks v4 2",
    "manager_networks v6 2",
    "manager_addresses v4 3",
    "manager_addresses v6 3",
    "manager_joins_total 2",
    "manager_renewals_total 1",
    "manager_refused_tokens_total 1",
  ]);
});
