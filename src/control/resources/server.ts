import { canonicalIp, FAMILIES, type Family } from "../../core/model/address.ts";
import type { Endpoint } from "../../core/model/endpoint.ts";
import { invalid, type Problem } from "../../core/model/problems.ts";
import {
  formatPlace,
  isGoodSocketPath,
  isSocketPath,
  SOCKET_PATH_FORM,
} from "../../core/model/socket-path.ts";
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
      unix: true,
      required: true,
      help: "Where it is: HOST:PORT, or unix:/PATH of this machine; a host name is resolved, and followed when it changes",
    },
  ],
  show: ({ addresses, hostName, ports }) => {
    const hosts = hostName === "" ? addresses : [hostName];
    const numbers = ports.length === 0 ? [0] : ports.map(({ port }) => port);
    return hosts.flatMap((host) => numbers.map((port) => formatPlace(host, port))).join(",");
  },
  read: (server, params, problems) => {
    const address = params.address("address");
    if (address === undefined) return server;
    if (address.kind === "unix") {
      if (!isGoodSocketPath(address.path)) {
        problems.push(invalid(["address"], address.path, SOCKET_PATH_FORM));
      }
      return { ...server, addresses: [], hostName: address.path, families: [], ports: [] };
    }
    const ip = canonicalIp(address.host);
    return {
      ...server,
      addresses: ip === undefined ? [] : [ip],
      hostName: ip === undefined ? address.host : "",
      families: [],
      ports: [{ name: "", port: address.port }],
    };
  },
};

/** Whether addresses of a family are not used, of a server that is given by its name. */
function unwanted(
  family: Family,
  spec: Readonly<Record<"name" | "field", string>>,
): Field<Endpoint> {
  const help = `Of a host name: its IP${family} addresses are not used; a new address takes that back`;
  return {
    specs: [{ kind: "flag", ...spec, help }],
    show: ({ families }) => families.length > 0 && !families.includes(family),
    read: (server, params, problems) => {
      const isUnwanted = params.flag(spec.name);
      if (isUnwanted === true && (server.hostName === "" || isSocketPath(server.hostName))) {
        problems.push({ ...FOR_NAMES, path: [spec.name] });
        return server;
      }
      const before = server.families.length === 0 ? FAMILIES : server.families;
      const wanted = FAMILIES.filter((one) =>
        one === family ? isUnwanted !== true : before.includes(one),
      );
      if (wanted.length === 0) problems.push(NO_FAMILY_LEFT);
      return { ...server, families: wanted.length === FAMILIES.length ? [] : wanted };
    },
  };
}

const FOR_NAMES: Problem = {
  path: [],
  fault: "malformed",
  value: "is for a server that is given by its name",
  expected: "a host name as its address, or an IP address alone",
};

const NO_FAMILY_LEFT: Problem = {
  path: ["no-ipv6"],
  fault: "malformed",
  value: "no address would be left to call with no-ipv4",
  expected: "one of the two",
};

export const SERVERS: MemberResource = {
  type: "server",
  fields: [
    ADDRESS,
    unwanted("v4", { name: "no-ipv4", field: "noIpv4" }),
    unwanted("v6", { name: "no-ipv6", field: "noIpv6" }),
    weightField(STANDARD_WEIGHT),
  ],
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
            "add server s3 to server-group g0 address backend.example:8080 no-ipv6",
            "add server s4 to server-group g0 address unix:/run/app.sock",
          ],
          update: ["update server s1 in server-group g0 weight 0"],
          remove: "; its connections go on until they end by themselves",
        }),
      },
    ],
  },
  plans: memberPlans(SERVERS),
  names: (call) => memberNames(SERVERS, call),
  records: (call) => memberRecords(SERVERS, call),
};
