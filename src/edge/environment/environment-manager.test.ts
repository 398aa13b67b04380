import { expect, test } from "vitest";
import type { Log } from "../../core/log.ts";
import { type Cidr, parseCidr } from "../../core/model/address.ts";
import { FakeEdgeNetwork } from "./edge-network.fixture.ts";
import { EnvironmentManager } from "./environment-manager.ts";
import { hostLinkOf } from "./link-names.ts";
import { type NodeState, parseState, renderState } from "./node-state.ts";
import { LocalTable } from "./route-table.fixture.ts";
import type { Deployment } from "./workload.ts";

function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  if (parsed === undefined) throw new Error(`${text} is no network`);
  return parsed;
}

const SUBNETS = { v4: cidr("10.18.0.64/26"), v6: cidr("fc00::100/120") };
const silent = (): void => undefined;
const LOG: Log = { debug: silent, info: silent, warn: silent, error: silent };

const WEB: Deployment = {
  containerId: "netns:web",
  appName: "web",
  instanceNumber: 0,
  nodeIp: undefined,
  nodePort: undefined,
  serviceIps: [],
  portMappings: [{ protocol: "tcp", hostPort: 8080, port: 80 }],
  needs: [],
};

/** A node whose kernel and disk are in memory. */
class TestNode {
  readonly network = new FakeEdgeNetwork();
  readonly table = new LocalTable();
  /** As it is on the disk. */
  text = "";
  isDiskFull = false;
  bridge = "portolan0";
  /** Whether namespaces are made for workloads. */
  isMaking = true;
  nodeIp = "192.0.2.1";

  open(): Promise<EnvironmentManager> {
    const options = {
      ...{ bridge: this.bridge, tun: "tun0", mtu: 1420, nodePort: 50_103, needsTimeoutMs: 1 },
      serviceRanges: [cidr("10.30.0.0/16")],
      nodeAddress: () => this.nodeIp,
    };
    return EnvironmentManager.open(options, {
      network: this.network,
      table: this.table,
      keeper: {
        load: async () => (this.text === "" ? undefined : parseState(this.text, "edge.json")),
        save: async (state: NodeState) => {
          if (this.isDiskFull) throw new Error("the disk is full");
          this.text = renderState(state);
        },
      },
      findNamespace: async (containerId) => {
        this.network.namespaces.add(containerId);
        const madeAs = this.isMaking ? containerId : "";
        return { path: `/${containerId}`, id: containerId, madeAs };
      },
      log: LOG,
      nowMs: () => 0,
    });
  }

  async registered(): Promise<EnvironmentManager> {
    const manager = await this.open();
    await manager.register(SUBNETS);
    return manager;
  }
}

test.each(["attach", "publish"] as const)(
  "where %s fails nothing of a deployment is left, and the next one is as if it had not been",
  async (method) => {
    const node = new TestNode();
    const manager = await node.registered();
    const before = node.text;
    node.network.failing.add(method);
    await expect(manager.deploy(WEB)).rejects.toThrow(`${method} fails`);
    expect([...node.network.links, ...node.network.namespaces]).toEqual([]);
    expect([manager.workloads(), manager.room.used, node.text]).toEqual([[], 0, before]);
    node.network.failing.clear();
    await manager.deploy(WEB);
    expect(node.network.ports).toEqual(["8080/tcp 10.18.0.67:80"]);
  },
);

test("where the disk is full nothing of a deployment is left", async () => {
  const node = new TestNode();
  const manager = await node.registered();
  node.isDiskFull = true;
  await expect(manager.deploy(WEB)).rejects.toThrow("the disk is full");
  expect([...node.network.links, ...node.network.namespaces, ...node.network.ports]).toEqual([]);
  expect([manager.workloads(), manager.room.used, node.table.rows()]).toEqual([[], 0, []]);
});

test("an undeployment that could not be written down goes on when it is asked for again", async () => {
  const node = new TestNode();
  const manager = await node.registered();
  const { name } = await manager.deploy(WEB);
  node.isDiskFull = true;
  await expect(manager.undeploy(name)).rejects.toThrow("the disk is full");
  expect([node.network.ports, manager.room.used]).toEqual([[], 1]);
  node.isDiskFull = false;
  expect(await manager.undeploy(name)).toMatchObject({ name });
  expect([manager.room.used, await manager.undeploy(name)]).toEqual([0, undefined]);
});

test("many at once get addresses of their own, and one name is given once", async () => {
  const node = new TestNode();
  const manager = await node.registered();
  const deployments = Array.from({ length: 61 }, (_, instanceNumber) => ({
    ...WEB,
    ...{ containerId: `netns:w${instanceNumber}`, instanceNumber, portMappings: [] },
  }));
  const workloads = await Promise.all(deployments.map((one) => manager.deploy(one)));
  expect(new Set(workloads.map(({ addresses }) => addresses.v4)).size).toBe(61);
  await expect(manager.deploy({ ...WEB, instanceNumber: 61 })).rejects.toThrow("all 61 addresses");
  await expect(manager.deploy({ ...WEB, portMappings: [] })).rejects.toThrow("is deployed with");
  expect(node.network.links.size).toBe(61);
});

test("a port of another workload or of a process is refused by name", async () => {
  const node = new TestNode();
  const manager = await node.registered();
  await manager.deploy(WEB);
  const second = { ...WEB, containerId: "netns:second", instanceNumber: 1 };
  await expect(manager.deploy(second)).rejects.toThrow(
    "portMappings: 8080/tcp of this node is taken; expected a port other than that of web.instance.0",
  );
  node.network.listening.set("22/tcp", "sshd (pid 7)");
  const ssh = { ...second, portMappings: [{ protocol: "tcp", hostPort: 22, port: 22 } as const] };
  await expect(manager.deploy(ssh)).rejects.toThrow("a port other than that of sshd (pid 7)");
  expect(manager.room.used).toBe(1);
});

test("the same deployment again has what it had, and may change its ports", async () => {
  const node = new TestNode();
  const manager = await node.registered();
  const first = await manager.deploy(WEB);
  expect(await manager.deploy(WEB)).toEqual(first);
  const ports = [{ protocol: "udp", hostPort: 53, port: 53 } as const];
  expect(await manager.deploy({ ...WEB, portMappings: ports })).toEqual({
    ...first,
    portMappings: ports,
  });
  expect(node.network.ports).toEqual(["53/udp 10.18.0.66:53"]);
  expect(parseState(node.text, "edge.json").workloads).toHaveLength(1);
});

test("the next process finds workloads, connects what lost its link, and tells what is lost", async () => {
  const node = new TestNode();
  const manager = await node.registered();
  for (const instanceNumber of [0, 1, 2]) {
    const containerId = `netns:w${instanceNumber}`;
    await manager.deploy({ ...WEB, containerId, instanceNumber, portMappings: [] });
  }
  const link = (number: number) => hostLinkOf(`web.instance.${number}`);
  node.network.links.delete(link(1));
  node.network.links.delete(link(2));
  node.network.namespaces.delete("netns:w2");
  node.network.links.set("pve-0123456789", { path: "", id: "", madeAs: "" });
  const next = await node.open();
  expect(next.workloads().map(({ health }) => health)).toEqual(["up", "up", "lost"]);
  expect([...node.network.links.keys()]).toEqual([link(0), link(1)]);
  expect(next.events.since(0).map(({ event }) => event)).toMatchObject([
    { type: "failed", serviceName: "web.instance.2" },
  ]);
  expect(node.table.rows().map(({ instanceNumber }) => instanceNumber)).toEqual([0, 1]);
  // Its container was started anew: it is deployed in the place of the one that is lost.
  const again = { ...WEB, containerId: "netns:w3", instanceNumber: 2, portMappings: [] };
  expect(await next.deploy(again)).toMatchObject({ addresses: { v4: "10.18.0.69" } });
  expect(next.room.used).toBe(3);
});

test("what has ended makes room for what was started anew, also before that was noticed", async () => {
  const node = new TestNode();
  const manager = await node.registered();
  await manager.deploy(WEB);
  const anew = { ...WEB, containerId: "netns:anew" };
  await expect(manager.deploy(anew)).rejects.toThrow("is deployed with");
  node.network.namespaces.delete("netns:web");
  expect(await manager.deploy(anew)).toMatchObject({ namespace: { id: "netns:anew" } });
  expect([manager.room.used, node.network.links.size]).toEqual([1, 1]);
  expect(node.network.ports).toEqual(["8080/tcp 10.18.0.67:80"]);
});

test("a namespace that was made stays until the last workload in it goes", async () => {
  const node = new TestNode();
  const manager = await node.registered();
  const first = await manager.deploy(WEB);
  node.isMaking = false;
  const second = await manager.deploy({ ...WEB, instanceNumber: 1, portMappings: [] });
  await manager.undeploy(first.name);
  expect([...node.network.namespaces]).toEqual(["netns:web"]);
  const next = await node.open();
  expect(next.workloads().map(({ health }) => health)).toEqual(["up"]);
  await next.undeploy(second.name);
  expect([...node.network.namespaces]).toEqual([]);
});

test("another bridge than before is refused, with what to do", async () => {
  const node = new TestNode();
  await node.registered();
  node.bridge = "other0";
  await expect(node.open()).rejects.toThrow("portolan cleanup --edge");
});

test("another network is taken while nothing is deployed, and not where the machine has it", async () => {
  const node = new TestNode();
  const manager = await node.registered();
  await manager.register({ ...SUBNETS, v4: cidr("10.18.1.0/26") });
  node.network.conflict = "10.18.2.7 of eth0";
  await expect(manager.register(SUBNETS)).rejects.toThrow("it has 10.18.2.7 of eth0");
  expect(manager.plan?.addresses.v4).toBe("10.18.1.1");
});

test("a node that moves tells its new address, and its table has it", async () => {
  const node = new TestNode();
  const manager = await node.registered();
  await manager.deploy(WEB);
  node.nodeIp = "198.51.100.1";
  await manager.reconcile();
  expect(manager.events.since(0).at(-1)?.event).toEqual({
    type: "address-changed",
    nodeIp: "198.51.100.1",
    before: "192.0.2.1",
  });
  expect(node.table.rows()).toMatchObject([{ nodeIp: "198.51.100.1" }]);
});

test("a state file that is not one is refused with what is wrong", () => {
  expect(() => parseState("{", "edge.json")).toThrow(/edge\.json: .*expected JSON/);
  expect(() => parseState('{"version":2,"workloads":[]}', "edge.json")).toThrow(
    "edge.json: version: 2 is not valid; expected 1",
  );
});
