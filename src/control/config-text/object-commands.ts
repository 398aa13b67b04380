import type { Endpoint } from "../../core/model/endpoint.ts";
import { deepEqual } from "../../core/model/equal.ts";
import type { Listener } from "../../core/model/listener.ts";
import {
  groupKeyOf,
  type Kind,
  keyOf,
  type ModelObject,
  type ObjectOf,
} from "../../core/model/object.ts";
import type { SecurityGroup } from "../../core/model/security-group.ts";
import type { Service } from "../../core/model/service.ts";
import type { ParamInput, ResourceCommand, ResourceRef } from "../command.ts";
import type { ResourceName } from "../resource-names.ts";
import { ATTACHED_FIELDS, standardAttachment } from "../resources/attached-group.ts";
import { CERT_KEYS } from "../resources/cert-key.ts";
import { DNS_SERVERS } from "../resources/dns-server.ts";
import { ENDPOINTS } from "../resources/endpoint.ts";
import { typedFields } from "../resources/fields.ts";
import { type MemberResource, standardMember } from "../resources/member.ts";
import { nameOfKey } from "../resources/names.ts";
import { type ObjectResource, standardAt } from "../resources/object-resource.ts";
import { SECURITY_GROUPS } from "../resources/security-group.ts";
import { RULE_FIELDS, standardRule } from "../resources/security-group-rule.ts";
import { SERVERS } from "../resources/server.ts";
import { SERVER_GROUPS } from "../resources/server-group.ts";
import { SERVICES } from "../resources/service.ts";
import { SOCKS5_SERVERS } from "../resources/socks5-server.ts";
import type { StateView } from "../resources/state-view.ts";
import { TCP_LBS } from "../resources/tcp-lb.ts";
import { UDP_LBS } from "../resources/udp-lb.ts";
import { attachedOf, UPSTREAMS, withoutGroups } from "../resources/upstream.ts";

/** The parts of a configuration, in order: what others name comes before them where it can. */
export const SECTIONS = [
  "cert-key",
  "event-loop-group",
  "event-loop",
  "server-group",
  "upstream",
  "server-group in upstream",
  "security-group",
  "security-group-rule",
  "listener",
  "server",
  "service",
  "endpoint",
  "delegate",
  "controller",
] as const;

export type Section = (typeof SECTIONS)[number];

/** A command of a configuration. */
export interface SectionCommand {
  readonly section: Section;
  readonly command: ResourceCommand;
}

/** Commands that together make one object. */
export type ObjectCommands = readonly SectionCommand[];

/**
 * The ways to make an object by commands, as far as there are words for it; whether one of them makes
 * just this one is for the caller to find out.
 */
export function commandsFor(object: ModelObject, view: StateView): readonly ObjectCommands[] {
  switch (object.kind) {
    case "Certificate":
      return [[addObject("cert-key", CERT_KEYS, object)]];
    case "Group":
      return [[addObject("server-group", SERVER_GROUPS, object)]];
    case "Service":
      return [commandsForService(object)];
    case "SecurityGroup":
      return [commandsForSecurityGroup(object)];
    case "Listener":
      return [[addObject("listener", listenerResourceOf(object), object)]];
    case "Endpoint":
      return commandsForEndpoint(object, view);
    case "Node":
      return [];
  }
}

function listenerResourceOf({ mode }: Listener): ObjectResource<"Listener"> {
  switch (mode) {
    case "udp":
      return UDP_LBS;
    case "socks5":
      return SOCKS5_SERVERS;
    case "dns":
      return DNS_SERVERS;
    default:
      return TCP_LBS;
  }
}

function commandsForService(service: Service): ObjectCommands {
  const standard = standardAt(UPSTREAMS, service);
  const isUpstream = deepEqual(withoutGroups(service), withoutGroups(standard));
  const [own, attached]: [Section, Section] = isUpstream
    ? ["upstream", "server-group in upstream"]
    : ["service", "service"];
  const resource = isUpstream ? UPSTREAMS : SERVICES;
  const place = { type: resource.type, name: nameOfKey(keyOf(service)) };
  const groups = attachedOf(service).map((ref) =>
    add(
      attached,
      { type: "server-group", name: nameOfKey(ref.group) },
      [place],
      typedFields(ATTACHED_FIELDS, ref, standardAttachment(ref.group)),
    ),
  );
  return [addObject(own, resource, service), ...groups];
}

function commandsForSecurityGroup(group: SecurityGroup): ObjectCommands {
  const place: ResourceRef = { type: "security-group", name: nameOfKey(keyOf(group)) };
  const rules = group.rules.map((rule) =>
    add(
      "security-group-rule",
      { type: "security-group-rule", name: rule.name },
      [place],
      typedFields(RULE_FIELDS, rule, standardRule(rule.name)),
    ),
  );
  return [addObject("security-group", SECURITY_GROUPS, group), ...rules];
}

/** As a server of its group, or as an endpoint of the service of that name: that has more words. */
function commandsForEndpoint(endpoint: Endpoint, view: StateView): readonly ObjectCommands[] {
  const key = groupKeyOf(endpoint);
  const ways: ObjectCommands[] = [];
  if (view.get("Group", key) !== undefined) {
    ways.push([addMember("server", SERVERS, "server-group", endpoint)]);
  }
  if (view.get("Service", key) !== undefined) {
    ways.push([addMember("endpoint", ENDPOINTS, "service", endpoint)]);
  }
  return ways;
}

function addMember(
  section: Section,
  resource: MemberResource,
  holder: ResourceName,
  endpoint: Endpoint,
): SectionCommand {
  const group = nameOfKey(groupKeyOf(endpoint));
  const standard = standardMember(resource, group, endpoint.name);
  return add(
    section,
    { type: resource.type, name: endpoint.name },
    [{ type: holder, name: group }],
    typedFields(resource.fields, endpoint, standard),
  );
}

function addObject<K extends Kind>(
  section: Section,
  resource: ObjectResource<K>,
  object: ObjectOf<K> & { readonly namespace: string },
): SectionCommand {
  const params = typedFields(resource.fields, object, standardAt(resource, object));
  return add(section, { type: resource.type, name: nameOfKey(keyOf(object)) }, [], params);
}

function add(
  section: Section,
  { type, name }: ResourceRef,
  within: readonly ResourceRef[],
  params: ReadonlyMap<string, ParamInput>,
): SectionCommand {
  return { section, command: { kind: "resource", action: "add", type, name, within, params } };
}
