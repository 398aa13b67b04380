import { familyOf, isWildcard, parseCidr } from "../../../core/model/address.ts";
import { type Listener, leadsTo, protocolOf } from "../../../core/model/listener.ts";
import { keyOf } from "../../../core/model/object.ts";
import { ruleConcerns } from "../../../core/model/rule-concerns.ts";
import type { SecurityGroup } from "../../../core/model/security-group.ts";
import type { ServiceEndpoints } from "../../../core/sinks/fullstate.ts";
import {
  type AccessList,
  type Frontend,
  type FrontendScope,
  frontendKey,
  RANKS,
  type SlotMethod,
} from "./frontend.ts";
import { PortScopes } from "./service-frontends.ts";
import type { TableFacts } from "./table-facts.ts";
import { PortLists } from "./target-lists.ts";

/** A listener with all that it names; undefined where that does not exist. */
export interface ListenerView {
  readonly listener: Listener;
  readonly item: ServiceEndpoints | undefined;
  readonly method: SlotMethod;
  readonly securityGroup: SecurityGroup | undefined;
}

/** What the kernel can not do of a listener, in words; undefined where it can do all. */
export function obstacleOf({ mode, tls, proxyProtocol, address }: Listener): string | undefined {
  if (mode !== "tcp" && mode !== "udp") return `listeners of mode ${mode} need a proxy`;
  if (tls !== undefined) return "listeners with TLS need a proxy";
  if (proxyProtocol.send !== "none" || proxyProtocol.acceptFrom.length > 0) {
    return "listeners with the PROXY protocol need a proxy";
  }
  return address.startsWith("/") ? "listeners on unix sockets need a proxy" : undefined;
}

/** Everywhere in one family where a listener answers on this node. */
export function listenerFrontends(view: ListenerView, facts: TableFacts): readonly Frontend[] {
  const { listener, item, method } = view;
  const { address, port, node } = listener;
  if (node !== "" && node !== facts.nodeName) return [];
  if (obstacleOf(listener) !== undefined || familyOf(address) !== facts.family) return [];
  const addresses = isWildcard(address) ? facts.ownAddresses : [address];
  const protocol = protocolOf(listener);
  return addresses.map((own) => ({
    key: frontendKey(own, protocol, port),
    address: own,
    protocol,
    port,
    rank: isWildcard(address) ? RANKS["listener-on-any"] : RANKS.listener,
    label: `listener ${keyOf(listener)}`,
    scope: scopeOf(view, facts),
    method,
    affinitySeconds: item?.service.service.affinitySeconds ?? 0,
    access: accessOf(view, facts),
  }));
}

const NOBODY: FrontendScope = {
  kind: "external",
  list: { slots: new Map(), whenEmpty: "refuse" },
};

function scopeOf({ listener, item }: ListenerView, { family }: TableFacts): FrontendScope {
  if (item === undefined) return NOBODY;
  const { service } = item.service;
  const { ports } = service;
  const index = ports.findIndex(({ name }) => leadsTo(listener, name, ports.length));
  const port = ports[index];
  if (port === undefined) return NOBODY;
  return new PortScopes(service, new PortLists(item, port, index, family)).external;
}

/** The longest prefix decides, so it comes first. A group that does not exist lets nobody in. */
function accessOf(view: ListenerView, { family }: TableFacts): AccessList | undefined {
  const { listener, securityGroup } = view;
  if (listener.securityGroup === "") return undefined;
  if (securityGroup === undefined) return { kind: "rules", rules: [], otherwise: false };
  const rules = securityGroup.rules
    .filter(
      (rule) =>
        ruleConcerns(rule, protocolOf(listener), listener.port) &&
        familyOf(rule.network) === family,
    )
    .sort((a, b) => prefixOf(b.network) - prefixOf(a.network))
    .map(({ network, access }) => ({ network, allow: access === "allow" }));
  return { kind: "rules", rules, otherwise: securityGroup.defaultAccess === "allow" };
}

function prefixOf(network: string): number {
  return parseCidr(network)?.prefix ?? 0;
}
