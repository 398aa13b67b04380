import { canonicalIp, formatHostPort } from "../../core/model/address.ts";
import type { Endpoint } from "../../core/model/endpoint.ts";
import type { RefusedParam } from "../resource-spec.ts";
import { actionsOf } from "./actions.ts";
import type { DesiredResource } from "./desired-resource.ts";
import { type Field, integer } from "./fields.ts";
import { type MemberResource, memberNames, memberPlans, memberRecords } from "./member.ts";
import { find, findOurs } from "./object-resource.ts";
import { SERVER_GROUPS } from "./server-group.ts";

const STANDARD_WEIGHT = 10;

/** The share of a member of a group. */
export function weightField(standard: number): Field<Endpoint> {
  return integer(
    {
      name: "weight",
      field: "weight",
      min: 0,
      max: 65_535,
      help: "Share of the connections within its group; with 0 it gets no new ones",
      standard: String(standard),
    },
    {
      get: ({ weight }) => weight,
      set: (server, weight) => ({ ...server, weight }),
    },
  );
}

const ADDRESS: Field<Endpoint> = {
  specs: [
    {
      kind: "address",
      name: "address",
      field: "address",
      required: true,
      help: "Where it is, HOST:PORT; a host name is resolved, and followed when it changes",
    },
  ],
  show: ({ addresses, hostName, ports }) => {
    const hosts = hostName === "" ? addresses : [hostName];
    const numbers = ports.length === 0 ? [0] : ports.map(({ port }) => port);
    return hosts.flatMap((host) => numbers.map((port) => formatHostPort(host, port))).join(",");
  },
  read: (server, params) => {
    const address = params.address("address");
    if (address?.kind !== "tcp") return server;
    const ip = canonicalIp(address.host);
    return {
      ...server,
      addresses: ip === undefined ? [] : [ip],
      hostName: ip === undefined ? address.host : "",
      ports: [{ name: "", port: address.port }],
    };
  },
};

/** The state holds no wish for a family of addresses. */
function noFamily(name: string, field: string): RefusedParam {
  return {
    name,
    field,
    why: "can not be said: all addresses of a host name are used",
    instead: "an IP address, or a name that has addresses of one family only",
  };
}

export const SERVERS: MemberResource = {
  type: "server",
  fields: [ADDRESS, weightField(STANDARD_WEIGHT)],
  standardWeight: STANDARD_WEIGHT,
  assertHolder: ({ name }, view) => {
    find(SERVER_GROUPS, name, view);
  },
  assertOurHolder: ({ name }, view) => {
    findOurs(SERVER_GROUPS, name, view);
  },
  noteOf: () => "",
};

export const SERVER: DesiredResource = {
  spec: {
    name: "server",
    shorts: ["svr"],
    summary: "A server of a server group",
    section: "module",
    isSystem: false,
    scopes: [
      {
        within: [["server-group"]],
        actions: actionsOf(SERVERS.fields, {
          one: "a server of a group",
          many: "servers of a group",
          place: " to server-group g0",
          example: "server s1",
          add: [
            "add server s1 to server-group g0 address 10.0.2.1:80 weight 10",
            "add server s2 to server-group g0 address backend.example:8080",
          ],
          update: ["update server s1 in server-group g0 weight 0"],
          refused: [noFamily("no-ipv4", "noIpv4"), noFamily("no-ipv6", "noIpv6")],
          remove: "; its connections go on until they end by themselves",
        }),
      },
    ],
  },
  plans: memberPlans(SERVERS),
  names: (call) => memberNames(SERVERS, call),
  records: (call) => memberRecords(SERVERS, call),
};
