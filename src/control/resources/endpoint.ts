import { canonicalIp, isHostName } from "../../core/model/address.ts";
import type { Endpoint } from "../../core/model/endpoint.ts";
import { keyOf } from "../../core/model/object.ts";
import { invalid } from "../../core/model/problems.ts";
import { groupsOf } from "../../core/model/service.ts";
import { formatPlace, isSocketPath, parseSocketPath } from "../../core/model/socket-path.ts";
import { CONTROL_OWNER } from "../world.ts";
import { actionsOf } from "./actions.ts";
import type { DesiredResource } from "./desired-resource.ts";
import { eitherFlag, type Field, type Lens, spellAll, text } from "./fields.ts";
import { type MemberResource, memberNames, memberPlans, memberRecords } from "./member.ts";
import { find, findOurs } from "./object-resource.ts";
import { wordsFor } from "./references.ts";
import { notOurs } from "./refusals.ts";
import { AN_IP } from "./rules.ts";
import { weightField } from "./server.ts";
import { SERVICES } from "./service.ts";
import { ENDPOINT_PORT_FORM, formatEndpointPort, parseEndpointPort } from "./service-ports.ts";

const STANDARD_WEIGHT = 1;
const MAX_ADDRESSES = 16;

const ADDRESS: Field<Endpoint> = {
  specs: [
    {
      kind: "list",
      name: "address",
      field: "address",
      placeholder: "IP",
      required: true,
      help: "Where it is: an address of each family, a host name, or unix:/PATH on its node",
    },
  ],
  show: ({ addresses, hostName }) => {
    if (hostName === "") return addresses;
    return [isSocketPath(hostName) ? formatPlace(hostName, 0) : hostName];
  },
  read: (endpoint, params, problems) => {
    const entries = params.list("address") ?? [];
    const [first = ""] = entries;
    const path = entries.length === 1 ? parseSocketPath(first) : undefined;
    if (path !== undefined) return { ...endpoint, addresses: [], hostName: path };
    if (entries.length === 1 && canonicalIp(first) === undefined && isHostName(first)) {
      return { ...endpoint, addresses: [], hostName: first };
    }
    if (entries.length > MAX_ADDRESSES) {
      problems.push(invalid(["address"], entries.length, `at most ${MAX_ADDRESSES} addresses`));
    }
    return { ...endpoint, addresses: spellAll("address", entries, AN_IP, problems), hostName: "" };
  },
};

const PORTS: Field<Endpoint> = {
  specs: [
    {
      kind: "list",
      name: "ports",
      field: "ports",
      placeholder: ENDPOINT_PORT_FORM,
      help: `Ports on which it serves, each ${ENDPOINT_PORT_FORM}, by the names of the service's ports`,
      standard: "the target ports of the service",
    },
  ],
  show: ({ ports }) => ports.map(formatEndpointPort),
  read: (endpoint, params, problems) => {
    const entries = params.list("ports") ?? [];
    const ports = entries.map((entry) => parseEndpointPort(entry));
    entries.forEach((entry, index) => {
      if (ports[index] === undefined) problems.push(invalid(["ports"], entry, ENDPOINT_PORT_FORM));
    });
    return { ...endpoint, ports: ports.filter((port) => port !== undefined) };
  },
};

function of<F extends "node" | "zone" | "ready">(field: F): Lens<Endpoint, Endpoint[F]> {
  return {
    get: (endpoint) => endpoint[field],
    set: (endpoint, value) => ({ ...endpoint, [field]: value }),
  };
}

export const ENDPOINTS: MemberResource = {
  type: "endpoint",
  fields: [
    ADDRESS,
    PORTS,
    text(
      {
        name: "node",
        field: "node",
        placeholder: "NODE",
        help: "Node that it runs on",
        standard: "none",
      },
      of("node"),
    ),
    text(
      {
        name: "zone",
        field: "zone",
        placeholder: "ZONE",
        help: "Zone that it runs in",
        standard: "none",
      },
      of("zone"),
    ),
    weightField(STANDARD_WEIGHT),
    eitherFlag(
      { name: "ready", field: "ready", help: "It can be called", standard: "it is ready" },
      { name: "not-ready", field: "notReady", help: "It can not be called now" },
      of("ready"),
    ),
  ],
  standardWeight: STANDARD_WEIGHT,
  assertHolder: ({ name }, view) => {
    find(SERVICES, name, view);
  },
  assertOurHolder: ({ name }, view) => {
    const key = keyOf(findOurs(SERVICES, name, view));
    const group = view.get("Group", key);
    const owner = view.ownerOf("Group", key) ?? CONTROL_OWNER;
    if (group !== undefined && owner !== CONTROL_OWNER) throw notOurs(wordsFor(group), owner);
  },
  noteOf: ({ name }, view) => {
    const service = find(SERVICES, name, view);
    const isUsed = groupsOf(service).some(({ group }) => group === keyOf(service));
    return isUsed
      ? ""
      : `${wordsFor(service)} sends to its server groups, not to its own endpoints`;
  },
};

export const ENDPOINT: DesiredResource = {
  spec: {
    name: "endpoint",
    shorts: ["ep"],
    summary: "An endpoint of a service",
    section: "module",
    isSystem: false,
    scopes: [
      {
        within: [["service"]],
        actions: actionsOf(ENDPOINTS.fields, {
          one: "an endpoint of a service",
          many: "endpoints of a service",
          place: " to service web",
          example: "endpoint web-1",
          add: [
            "add endpoint web-1 to service web address 10.1.0.5 node n1 zone a",
            "add endpoint web-3 to service web address unix:/run/web.sock node n1",
            "add endpoint web-2 to service web address 10.1.0.6,fd00:1::6 ports http=8080",
          ],
          update: ["update endpoint web-1 in service web not-ready"],
          remove: "",
        }),
      },
    ],
  },
  plans: memberPlans(ENDPOINTS),
  names: (call) => memberNames(ENDPOINTS, call),
  records: (call) => memberRecords(ENDPOINTS, call),
};
