import { join } from "node:path";
import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { formatListenAddress, type ListenAddress } from "../../core/options/listen-address.ts";
import { createDockerEngine } from "../../edge/environment/container-engine.ts";
import {
  EnvironmentManager,
  type EnvironmentOptions,
  type EnvironmentParts,
} from "../../edge/environment/environment-manager.ts";
import { createFindNamespace } from "../../edge/environment/find-namespace.ts";
import { isHostLink } from "../../edge/environment/link-names.ts";
import { LinuxEdgeNetwork } from "../../edge/environment/linux-edge-network.ts";
import { keptSubnets } from "../../edge/environment/node-state.ts";
import { FlowFile } from "../../edge/overlay/flow-file.ts";
import { Overlay } from "../../edge/overlay/overlay.ts";
import { tunnelKeyIn } from "../../edge/overlay/tunnel-key-file.ts";
import { planRoutes } from "../../edge/rest/rest-routes.ts";
import { createLoopHost } from "../../net/threads/loop-host.ts";
import { systemExec } from "../../platform/linux/exec.ts";
import { takeInstanceLock } from "../../platform/linux/instance-lock.ts";
import { createNft } from "../../platform/linux/nft/nft.ts";
import { primaryAddress } from "../../platform/linux/primary-address.ts";
import { Closers } from "../closers.ts";
import { startHttpServer } from "../http-server.ts";
import { makePrivateFolder } from "../private-files.ts";
import { readThisMachine } from "../this-machine.ts";
import { readVersion } from "../version.ts";
import { createEdgeMetrics, type EdgeMetrics } from "./edge-metrics.ts";
import { keepRight } from "./keep-right.ts";
import { enterEdge, type JoinOrder } from "./membership/enter-edge.ts";
import { openMember } from "./membership/open-member.ts";
import { serveNames } from "./names/serve-names.ts";
import { EDGE_SOCKET, type EdgeSettings } from "./resolve-settings.ts";
import { createRestServer } from "./rest-server.ts";
import { createStateFile } from "./state-file.ts";

export interface EdgeNode {
  readonly addresses: readonly ListenAddress[];
  /** The network of workloads stays. */
  close(): Promise<void>;
}

const LOCK = "edge";
const TUN = "portolan-tun";
const BOTH =
  "--mqtt: this node has joined a manager, and can not serve in a cluster as well; leave the option out, or give another --state";

/** @throws CoreError ERR_NOT_POSSIBLE_HERE with the remedy */
export async function assertPossible(): Promise<void> {
  const { os, isRoot } = readThisMachine();
  const refuse = (message: string): CoreError => new CoreError("ERR_NOT_POSSIBLE_HERE", message);
  if (os !== "linux") throw refuse(`edge node works on Linux only, and this is ${os}`);
  if (!isRoot) throw refuse("edge node changes the network of this machine; run it as root");
  await createNft(systemExec).version();
}

/**
 * One node of the edge: finds again what it had, and takes orders.
 * @throws CoreError ERR_NOT_POSSIBLE_HERE where another one runs here, ERR_LISTEN, and what the state
 *   file or the kernel refuses
 */
export async function startEdgeNode(
  settings: EdgeSettings,
  context: { readonly log: Log; readonly hostName: string; readonly join?: JoinOrder | undefined },
): Promise<EdgeNode> {
  const { log, hostName } = context;
  const { values, folder, subnets } = settings;
  const name = values.node ?? hostName;
  const closers = new Closers(log);
  let guard: ReturnType<typeof keepRight> | undefined;
  try {
    await makePrivateFolder(folder);
    const lock = takeInstanceLock(LOCK);
    closers.add("lock", async () => lock.release());
    const privateKey = await tunnelKeyIn(folder);
    const options = environmentOptions(settings);
    const place = { ip: options.nodeAddress(), port: values.tunnelPort };
    const { serviceRanges } = settings;
    const kept = await createStateFile(folder).load();
    const before = keptSubnets(kept?.node);
    const edge = await enterEdge(
      { stateFolder: folder, node: name, place, privateKey, serviceRanges, before, log },
      context.join,
    );
    const connections = await FlowFile.open(folder, log);
    closers.add("file of flows", () => connections.close());
    const overlay = new Overlay({
      node: name,
      host: createLoopHost(log),
      port: values.tunnelPort,
      privateKey,
      connections,
      onLost: () => guard?.look(),
      looksUpSenders: settings.mqtt !== undefined,
      awakeMs: values.awake,
      kernelPath: values.kernelPath,
      log,
    });
    const network = new LinuxEdgeNetwork(settings.names.dns ? { tellsResolver: log } : {});
    const manager = await EnvironmentManager.open(options, {
      ...partsOf(settings, log),
      network,
      table: overlay,
      openTunnel: (plan) => overlay.open(plan),
    });
    closers.add("environment", () => manager.close());
    const networks = edge?.subnets ?? subnets;
    if (networks !== undefined) await manager.register(networks);
    const parts = { node: name, privateKey, overlay, environment: manager, log };
    const member = edge && (await openMember(edge, parts));
    if (member !== undefined) closers.add("membership", () => member.close());
    if (settings.mqtt !== undefined) {
      if (edge !== undefined) throw new CoreError("ERR_USAGE", BOTH);
      const { joinCluster } = await import("./mqtt/join-cluster.ts");
      const parts = { node: name, overlay, environment: manager, serviceRanges, log };
      const cluster = await joinCluster(settings.mqtt, parts);
      closers.add("membership in a cluster", () => cluster.close());
    }
    overlay.begin();
    guard = keepRight(manager, network, log);
    closers.add("watch on links", async () => guard?.close());
    const names = await serveNames(settings.names, { manager, table: overlay, network, log });
    closers.add("names", () => names.close());
    const routes = planRoutes({
      manager,
      table: overlay,
      flows: overlay,
      nodes: overlay,
      toldRoundTrips: async () => (await member?.roundTrips()) ?? [],
      limits: { serviceRanges, tunnelPort: values.tunnelPort },
      givenNetworks: edge?.subnets,
      node: { name, version: readVersion() },
    });
    const metrics = createEdgeMetrics(
      manager,
      { names, tunnel: overlay },
      new Set(routes.map(({ path }) => path)),
    );
    const onAnswer = metrics.countAnswer;
    const server = createRestServer({ routes, events: manager.events, log, onAnswer });
    closers.add("REST API", () => server.close());
    const wanted: readonly ListenAddress[] = [
      { kind: "unix", path: join(folder, EDGE_SOCKET) },
      ...(values.listen === "off" ? [] : [values.listen]),
    ];
    const addresses: ListenAddress[] = [];
    for (const address of wanted) addresses.push(await server.listen(address));
    const isWell = (): boolean => manager.plan !== undefined && overlay.isOpen;
    await serveMetrics(settings, { metrics, isWell }, closers);
    log.info({ addresses: addresses.map(formatListenAddress) }, "the edge node takes orders");
    return { addresses, close: () => closers.closeAll() };
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

export function environmentOptions({
  values,
  serviceRanges,
  egress,
}: EdgeSettings): EnvironmentOptions {
  const { bridge, mtu, tunnelPort, nodeAddress, needsTimeout } = values;
  const isOurs = (link: string): boolean => link === bridge || link === TUN || isHostLink(link);
  return {
    bridge,
    tun: TUN,
    mtu,
    serviceRanges,
    nodePort: tunnelPort,
    nodeAddress: () => nodeAddress ?? primaryAddress(isOurs),
    needsTimeoutMs: needsTimeout,
    egress,
  };
}

function partsOf(
  { values, folder }: EdgeSettings,
  log: Log,
): Pick<EnvironmentParts, "keeper" | "findNamespace" | "log" | "nowMs"> {
  return {
    keeper: createStateFile(folder),
    findNamespace: createFindNamespace(createDockerEngine(values.engineSocket)),
    log,
    nowMs: () => Date.now(),
  };
}

async function serveMetrics(
  { values: { metricsListen } }: EdgeSettings,
  { metrics, isWell }: { readonly metrics: EdgeMetrics; readonly isWell: () => boolean },
  closers: Closers,
): Promise<void> {
  if (metricsListen === undefined || metricsListen === "off") return;
  const page = async () => ({
    status: 200,
    contentType: metrics.contentType,
    body: await metrics.text(),
  });
  const health = async () => ({
    status: isWell() ? 200 : 503,
    contentType: "text/plain; charset=utf-8",
    body: isWell() ? "ok\n" : "this node has no network yet, or its tunnel is lost\n",
  });
  const pages = new Map([
    ["/metrics", page],
    ["/healthz", health],
  ]);
  const server = await startHttpServer(metricsListen, pages);
  closers.add("metrics", () => server.close());
}
