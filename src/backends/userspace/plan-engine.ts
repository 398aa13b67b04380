import type { Group } from "../../core/model/group.ts";
import { keyOf } from "../../core/model/object.ts";
import type { FullState } from "../../core/sinks/fullstate.ts";
import { formatSocketAddress } from "../../platform/socket-address.ts";
import {
  type CertificateConfig,
  EMPTY_ENGINE_CONFIG,
  type EngineConfig,
  type ListenerConfig,
} from "../../proxy/engine-config.ts";
import type { UnservedListener } from "../backend.ts";
import { type ListenerFiles, NO_FILES } from "./files/listener-files.ts";
import { planDialTls } from "./files/plan-tls.ts";
import { type NodeFacts, routeNodeOf } from "./node-facts.ts";
import { NotHonoured } from "./not-honoured.ts";
import { planListeners } from "./plan-listeners.ts";
import { planServiceAddresses } from "./plan-service-addresses.ts";
import { planRedirect } from "./redirect/plan-redirect.ts";
import { NO_ELEMENTS, type RedirectElements } from "./redirect/redirect-table.ts";
import { datagramObstacle, transportObstacle } from "./transport-of.ts";
import { type IsReachable, type PlanGroupTls, UpstreamPlanner } from "./upstream-planner.ts";

export interface EnginePlan {
  readonly config: EngineConfig;
  /** What the kernel leads to the engine. */
  readonly redirect: RedirectElements;
  /** In words, a line for each reason. */
  readonly notHonoured: readonly string[];
  /** The listeners among it that are not served as they were asked for. */
  readonly unserved: readonly UnservedListener[];
}

/** What the engine shall do so that the state is true on this machine, and what it can not do of it. */
export function planEngine(
  state: FullState,
  facts: NodeFacts,
  files: ListenerFiles = NO_FILES,
): EnginePlan {
  const notHonoured = new NotHonoured();
  const { groups } = state.further;
  tellUnreachable(groups, facts, notHonoured);
  const planTls: PlanGroupTls = (wanted, group) => {
    const { tls, obstacle } = planDialTls(wanted, files.tls, facts);
    if (obstacle !== undefined) notHonoured.add(obstacle, `Group ${group}`);
    return tls;
  };
  const isReachable: IsReachable = (group, isByDatagrams) => {
    const sealed = isByDatagrams ? datagramObstacle(group) : undefined;
    if (sealed !== undefined) notHonoured.add(sealed, `Group ${keyOf(group)}`);
    return sealed === undefined && transportObstacle(group, facts) === undefined;
  };
  const upstreams = new UpstreamPlanner(groups, planTls, isReachable);
  const services = planServiceAddresses(state, facts, upstreams, notHonoured);
  const { redirectPorts: ports } = facts;
  const node = routeNodeOf(state, facts);
  const redirect = ports && planRedirect(services.redirected, { node, facts, upstreams, ports });
  const wanted = [
    ...services.listeners,
    ...planListeners(state, facts, upstreams, notHonoured, files),
    ...(redirect?.listeners ?? []),
  ];
  const listeners = keepFirstOfEach(wanted, notHonoured);
  const config = {
    ...EMPTY_ENGINE_CONFIG,
    listeners,
    upstreams: upstreams.upstreams,
    groups: upstreams.groups,
    certificates: certificatesOf(listeners, files),
  };
  const elements = redirect?.elements ?? NO_ELEMENTS;
  return {
    config,
    redirect: elements,
    notHonoured: notHonoured.lines(),
    unserved: notHonoured.unserved,
  };
}

function tellUnreachable(
  groups: ReadonlyMap<string, Group>,
  facts: NodeFacts,
  notHonoured: NotHonoured,
): void {
  for (const [key, group] of groups) {
    const obstacle = transportObstacle(group, facts);
    if (obstacle !== undefined) notHonoured.add(obstacle, `Group ${key}`);
  }
}

/** Those that a listener uses. */
function certificatesOf(
  listeners: readonly ListenerConfig[],
  { tls: { certificates } }: ListenerFiles,
): readonly CertificateConfig[] {
  const keys = new Set(listeners.flatMap(({ tls }) => tls?.certificates ?? []));
  return [...keys].flatMap((key) => certificates.get(key)?.value ?? []);
}

/** Of those that want the same address and port, the first has it. */
function keepFirstOfEach(
  wanted: readonly ListenerConfig[],
  notHonoured: NotHonoured,
): readonly ListenerConfig[] {
  const holders = new Map<string, string>();
  return wanted.filter((listener) => {
    const sockets = socketsOf(listener);
    const taken = sockets.find((socket) => holders.has(socket));
    if (taken === undefined) for (const socket of sockets) holders.set(socket, listener.key);
    else {
      const holder = holders.get(taken);
      notHonoured.add(`${taken} is taken by listener ${holder}`, `listener ${listener.key}`);
    }
    return taken === undefined;
  });
}

/** DNS is spoken over both, KCP over UDP. */
function socketsOf({ address, mode, transport }: ListenerConfig): readonly string[] {
  const text = formatSocketAddress(address);
  if (mode === "dns") return [text, `${text}/udp`];
  return [mode === "udp" || transport === "kcp" ? `${text}/udp` : text];
}
