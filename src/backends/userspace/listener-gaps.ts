import { FAMILIES, type Family } from "../../core/model/address.ts";
import type { Endpoint } from "../../core/model/endpoint.ts";
import type { Listener } from "../../core/model/listener.ts";
import { keyOf } from "../../core/model/object.ts";
import type { SecurityGroup } from "../../core/model/security-group.ts";
import type { ServicePort } from "../../core/model/service.ts";
import type { ServiceEndpoints } from "../../core/sinks/fullstate.ts";
import { addressIn } from "../../core/view/candidates.ts";
import { enumerate, type NotHonoured } from "./not-honoured.ts";
import type { Families } from "./upstream-planner.ts";
import { isUsable } from "./usable.ts";

/** What a listener leads to, as far as it is there. */
export interface Lead {
  readonly item: ServiceEndpoints | undefined;
  readonly port: ServicePort | undefined;
  /** The families in which its servers are called. */
  readonly families: Families;
}

const FAMILY_WORDS: Readonly<Record<Family, string>> = { v4: "IPv4", v6: "IPv6" };

/**
 * Tells which listeners lead nowhere, or not to all servers of their service. They are open all the
 * same, and what is missing may come later: so none of them is unserved.
 */
export class ListenerGaps {
  readonly #securityGroups: ReadonlyMap<string, SecurityGroup>;
  readonly #notHonoured: NotHonoured;
  /** Many listeners may lead to one large service. */
  readonly #outOfReach = new Map<string, string>();

  constructor(securityGroups: ReadonlyMap<string, SecurityGroup>, notHonoured: NotHonoured) {
    this.#securityGroups = securityGroups;
    this.#notHonoured = notHonoured;
  }

  note(listener: Listener, lead: Lead): void {
    this.#noteService(listener, lead);
    const { securityGroup } = listener;
    if (securityGroup === "" || this.#securityGroups.has(securityGroup)) return;
    const reason = "its security group does not exist, so nobody may call it";
    this.#add(reason, listener, `SecurityGroup ${securityGroup}`);
  }

  #noteService(listener: Listener, { item, port, families }: Lead): void {
    const named = `Service ${listener.service}`;
    if (item === undefined) {
      this.#add("its service does not exist", listener, named);
    } else if (port === undefined) {
      const wanted = `${named}, port "${listener.servicePort}"`;
      this.#add("its service has no port of that name", listener, wanted);
    } else if (!isUsable(item, port, FAMILIES)) {
      if (servesOthers(listener)) return;
      this.#add("its service has no server, or none that is ready", listener, named);
    } else this.#noteFamily(listener, item, port, families);
  }

  /** A proxy could call in any family, but the rules of services (`src/core/route`) have the call's own. */
  #noteFamily(
    listener: Listener,
    item: ServiceEndpoints,
    port: ServicePort,
    [family, second]: Families,
  ): void {
    if (family === undefined || second !== undefined) return;
    const key = `${item.service.key} ${family} ${port.name}`;
    const known = this.#outOfReach.get(key);
    const servers = known ?? enumerate(outOfReach(item, port, family).map(keyOf));
    if (known === undefined) this.#outOfReach.set(key, servers);
    if (servers === "") return;
    const other = FAMILY_WORDS[family === "v4" ? "v6" : "v4"];
    const reason = `it is called by ${FAMILY_WORDS[family]}, and its servers that are reached by ${other} only are not used`;
    this.#add(reason, listener, servers);
  }

  #add(reason: string, listener: Listener, what: string): void {
    this.#notHonoured.add(reason, `Listener ${keyOf(listener)} (${what})`);
  }
}

/** Whether it is of use also without servers. */
function servesOthers({ mode, allowOthers, hostsFile }: Listener): boolean {
  if (mode === "dns") return allowOthers || hostsFile !== "";
  return mode === "websocks" || (mode === "socks5" && allowOthers);
}

/** The endpoints that the traffic policy leaves for the port, in the other family only. */
function outOfReach(
  { service: { service }, endpoints }: ServiceEndpoints,
  port: ServicePort,
  family: Family,
): readonly Endpoint[] {
  const list = service.externalTrafficPolicy === "Local" ? "localFor" : "clusterFor";
  const used = endpoints
    .filter(({ ports }) => ports.some((use) => use.name === port.name && use[list].length > 0))
    .map(({ endpoint }) => endpoint);
  const isReached = (endpoint: Endpoint): boolean => addressIn(endpoint, family) !== undefined;
  const others = used.filter((endpoint) => !isReached(endpoint));
  if (others.length === 0) return [];
  // A pod of two families may be an endpoint in each.
  const pods = new Set(used.filter(isReached).map(podOf));
  return others.filter((endpoint) => endpoint.podName === "" || !pods.has(podOf(endpoint)));
}

function podOf({ namespace, podName }: Endpoint): string {
  return `${namespace}/${podName}`;
}
