import { homedir } from "node:os";
import process from "node:process";
import type { CoreError } from "../../core/errors.ts";
import { type Cidr, canonicalIp, parseCidr } from "../../core/model/address.ts";
import { invalid, problemsError } from "../../core/model/problems.ts";
import type { NodeSubnets } from "../../edge/addresses/subnet.ts";
import type { Egress } from "../../edge/environment/edge-network.ts";
import { readRanges, readRegister } from "../../edge/rest/requests.ts";
import { parseResolver } from "../../proxy/dns/parse-resolvers.ts";
import { defaultStateFolder } from "../instance-socket/state-folder.ts";
import type { MqttSettings } from "./mqtt/mqtt-settings.ts";
import type { NamesSettings } from "./names/serve-names.ts";
import type { EdgeNodeValues } from "./options.ts";

/** What `edge node` was asked for, checked. */
export interface EdgeSettings {
  readonly values: EdgeNodeValues;
  readonly folder: string;
  readonly serviceRanges: readonly Cidr[];
  /** Undefined: an engine says it by `/register`. */
  readonly subnets: NodeSubnets | undefined;
  readonly names: NamesSettings;
  readonly egress: Egress;
  /** The cluster that it serves in over MQTT. */
  readonly mqtt?: MqttSettings | undefined;
}

/** In the state folder: where the REST API is for this user alone. */
export const EDGE_SOCKET = "edge.sock";

/** As the kernel takes them, and as rules can name them without a doubt. */
const LINK_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,14}$/;
const DEFAULT_RANGES = ["10.30.0.0/16", "fdff::/16"];

/** @throws CoreError ERR_USAGE with the option */
export function resolveSettings(values: EdgeNodeValues): EdgeSettings {
  const { bridge, nodeAddress, serviceRange, subnet } = values;
  if (!LINK_NAME.test(bridge)) {
    throw refuse("--bridge", bridge, "1 to 15 letters, digits, - and _");
  }
  if (nodeAddress !== undefined && canonicalIp(nodeAddress) === undefined) {
    throw refuse("--node-address", nodeAddress, "an IPv4 or IPv6 address");
  }
  const ranges = serviceRange.length === 0 ? DEFAULT_RANGES : serviceRange;
  const serviceRanges = readRanges(ranges, "--service-range");
  return {
    ...{ values, folder: edgeFolder(values.state), serviceRanges },
    subnets: subnetsOf(subnet),
    names: namesOf(values),
    egress: {
      allow: networksOf(values.egressAllow, "--egress-allow"),
      deny: networksOf(values.egressDeny, "--egress-deny"),
    },
  };
}

function networksOf(texts: readonly string[], option: string): readonly Cidr[] {
  return texts.map((text) => {
    const network = parseCidr(text);
    if (network !== undefined) return network;
    throw refuse(option, text, "a network such as 192.0.2.0/24 or 2001:db8::/32");
  });
}

function namesOf({ dns, mdns, dnsForward }: EdgeNodeValues): NamesSettings {
  const forwardTo = dnsForward.map((text) => {
    const resolver = parseResolver(text);
    if (resolver !== undefined) return resolver;
    throw refuse("--dns-forward", text, "IP, IP:PORT or [IPV6]:PORT");
  });
  return { dns: dns === "on", mdns: mdns === "on", forwardTo };
}

export function edgeFolder(state: string | undefined): string {
  const facts = { environment: process.env, home: homedir(), os: process.platform };
  return state ?? defaultStateFolder(facts);
}

function subnetsOf(given: readonly string[]): NodeSubnets | undefined {
  if (given.length === 0) return undefined;
  const v6 = given.filter((text) => text.includes(":"));
  const v4 = given.filter((text) => !text.includes(":"));
  if (v4.length !== 1 || v6.length > 1) {
    throw refuse("--subnet", given.join(" "), "one IPv4 network, and at most one of IPv6");
  }
  return readRegister({ subnetwork: v4[0], subnetworkv6: v6[0] });
}

function refuse(option: string, value: string, expected: string): CoreError {
  return problemsError("ERR_USAGE", [invalid([option], value, expected)]);
}
