import { CoreError } from "../../core/errors.ts";
import type { NodeSubnets } from "../addresses/subnet.ts";
import type { EnvironmentManager } from "../environment/environment-manager.ts";
import type { FlowList, NodeList, RouteTable } from "../environment/route-table.ts";
import type { Workload } from "../environment/workload.ts";
import type { WorkloadEntry } from "../environment/workload-book.ts";
import {
  asContainerFields,
  type DeployLimits,
  readContainerDeploy,
  readDockerDeploy,
  readRegister,
  readUndeploy,
} from "./requests.ts";
import { roundTripRows, type ToldRoundTrips } from "./round-trip-rows.ts";

export interface RestRequest {
  /** What stands in the path in place of names in braces. */
  readonly names: ReadonlyMap<string, string>;
  readBody(): Promise<unknown>;
}

/** What is reached by a method and a path; its value is answered as JSON. */
export interface RestRoute {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly summary: string;
  /** @throws CoreError ERR_USAGE with the field, and what the environment throws */
  answer(request: RestRequest): Promise<unknown>;
}

export interface RestParts {
  readonly manager: EnvironmentManager;
  readonly table: RouteTable;
  readonly flows: FlowList;
  readonly nodes: NodeList;
  /** What other nodes told of how far they are from each other. */
  readonly toldRoundTrips: () => Promise<readonly ToldRoundTrips[]>;
  readonly limits: DeployLimits;
  /** What a manager gave: the node can not have others. */
  readonly givenNetworks?: NodeSubnets | undefined;
  readonly node: { readonly name: string; readonly version: string };
}

/** All that a node engine can ask of a node. */
export function planRoutes(parts: RestParts): readonly RestRoute[] {
  return [...changes(parts), ...views(parts)];
}

function changes({ manager, limits, givenNetworks }: RestParts): readonly RestRoute[] {
  const deploy =
    (read: typeof readDockerDeploy) =>
    async ({ readBody }: RestRequest): Promise<unknown> => {
      manager.assertRegistered();
      return deployed(await manager.deploy(read(await readBody(), limits)));
    };
  const undeploy = async ({ readBody }: RestRequest): Promise<unknown> => {
    manager.assertRegistered();
    const names = readUndeploy(await readBody());
    const known = new Set(manager.workloads().map(({ workload }) => workload.name));
    const name = names.find((one) => known.has(one)) ?? names[0] ?? "";
    const gone = await manager.undeploy(name);
    return { serviceName: name, removed: gone !== undefined };
  };
  return [
    {
      method: "POST",
      path: "/register",
      summary: "gives the node its subnetwork",
      answer: async ({ readBody }) => {
        const subnets = readRegister(await readBody(), manager.plan?.subnets);
        if (givenNetworks !== undefined) assertGiven(givenNetworks, subnets);
        await manager.register(subnets);
        return { subnetwork: subnets.v4.text, subnetworkv6: subnets.v6.text };
      },
    },
    {
      method: "POST",
      path: "/docker/deploy",
      summary: "connects a container",
      answer: deploy(readDockerDeploy),
    },
    {
      method: "POST",
      path: "/container/deploy",
      summary: "connects the container of a process",
      answer: (request) =>
        deploy(readContainerDeploy)(request).catch((error: unknown) => {
          throw asContainerFields(error);
        }),
    },
    ...["/docker/undeploy", "/container/undeploy"].map(
      (path): RestRoute => ({
        method: "POST",
        path,
        summary: "removes what a deployment made",
        answer: undeploy,
      }),
    ),
  ];
}

function views({
  manager,
  table,
  flows,
  nodes,
  toldRoundTrips,
  node,
}: RestParts): readonly RestRoute[] {
  return [
    {
      method: "GET",
      path: "/node",
      summary: "how the node is",
      answer: async () => nodeReport(manager, node),
    },
    {
      method: "GET",
      path: "/workloads",
      summary: "what is deployed",
      answer: async () => {
        manager.assertRegistered();
        return { workloads: manager.workloads().map(workloadReport) };
      },
    },
    {
      method: "GET",
      path: "/workloads/{serviceName}",
      summary: "one of them",
      answer: async ({ names }) => {
        manager.assertRegistered();
        const name = names.get("serviceName") ?? "";
        const entry = manager.workloads().find(({ workload }) => workload.name === name);
        if (entry !== undefined) return workloadReport(entry);
        throw new CoreError("ERR_NOT_FOUND", `there is no workload ${JSON.stringify(name)}`);
      },
    },
    {
      method: "GET",
      path: "/table",
      summary: "which instances the node knows, and where",
      answer: async () => {
        manager.assertRegistered();
        const rows = table.rows();
        return {
          table: rows.map((row) => ({ ...row, serviceIps: undefined, serviceIp: wireIps(row) })),
        };
      },
    },
    {
      method: "GET",
      path: "/nodes",
      summary: "the other nodes, and how far they are",
      answer: async () => {
        manager.assertRegistered();
        return { nodes: await nodes.nodes(), kernelPath: await nodes.kernelPath() };
      },
    },
    {
      method: "GET",
      path: "/roundtrips",
      summary: "how far nodes are from each other, all pairs that are known",
      answer: async () => {
        manager.assertRegistered();
        const [measured, told] = await Promise.all([nodes.nodes(), toldRoundTrips()]);
        return { roundTrips: roundTripRows(node.name, measured, told) };
      },
    },
    {
      method: "GET",
      path: "/flows",
      summary: "the flows through the tunnel",
      answer: async () => {
        manager.assertRegistered();
        return { flows: await flows.flows() };
      },
    },
  ];
}

function assertGiven(given: NodeSubnets, asked: NodeSubnets): void {
  if (given.v4.text === asked.v4.text && given.v6.text === asked.v6.text) return;
  const message = `subnetwork: the manager gave this node ${given.v4.text} and ${given.v6.text}; expected these`;
  throw new CoreError("ERR_IN_USE", message);
}

function deployed({ name, addresses, serviceIps }: Workload): unknown {
  return {
    serviceName: name,
    nsAddress: addresses.v4,
    nsAddressv6: addresses.v6,
    ...(serviceIps.length > 0 && { serviceIp: wireIps({ serviceIps }) }),
  };
}

function nodeReport(manager: EnvironmentManager, node: RestParts["node"]): unknown {
  const { plan, nodeIp = null, nodePort, room } = manager;
  const entries = manager.workloads();
  return {
    ...node,
    registered: plan !== undefined,
    nodeIp,
    nodePort,
    ...(plan && {
      subnetwork: plan.subnets.v4.text,
      subnetworkv6: plan.subnets.v6.text,
      bridge: { name: plan.bridge, mtu: plan.mtu, addresses: Object.values(plan.addresses) },
      serviceRanges: plan.serviceRanges.map(({ text }) => text),
      addresses: room,
    }),
    workloads: {
      up: entries.filter(({ health }) => health === "up").length,
      lost: entries.filter(({ health }) => health === "lost").length,
    },
  };
}

function workloadReport({ workload, health }: WorkloadEntry): unknown {
  const { name, containerId, appName, instanceNumber, nodeIp, nodePort } = workload;
  return {
    ...{ serviceName: name, containerId, appName, instanceNumber, nodeIp, nodePort },
    nsAddress: workload.addresses.v4,
    nsAddressv6: workload.addresses.v6,
    serviceIp: wireIps(workload),
    portMappings: workload.portMappings,
    needs: workload.needs,
    link: workload.link,
    hostLink: workload.hostLink,
    health,
  };
}

/** As node engines write them. */
function wireIps({ serviceIps }: Pick<Workload, "serviceIps">): unknown {
  return serviceIps.map(({ type, address }) => ({ IpType: type, Address: address }));
}
