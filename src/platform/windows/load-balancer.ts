import * as z from "zod";
import type { Protocol } from "../../core/model/common.ts";
import { address, compact, guid, listOf, number, parseHcn, SCHEMA_VERSION } from "./hcn-json.ts";

const DSR_FLAG = 1;
const IPV6_FLAG = 2;

/** The bit of each flag of a port mapping. */
const MAPPING_FLAGS = {
  /** Internal load balancing. */
  ilb: 1,
  /** The address is routed to this node: node ports. */
  localRoutedVip: 2,
  useMux: 4,
  /** The destination stays as the client wrote it. */
  preserveDip: 8,
  vipExternalIp: 16,
} as const;

export type MappingFlag = keyof typeof MAPPING_FLAGS;

const PROTOCOL_NUMBERS: Readonly<Record<Protocol, number>> = { TCP: 6, UDP: 17, SCTP: 132 };

const DISTRIBUTIONS = ["none", "source-ip-and-protocol", "source-ip"] as const;

/** How clients are bound to endpoints. */
export type Distribution = (typeof DISTRIBUTIONS)[number];

export interface PortMapping {
  readonly protocol: Protocol;
  /** Where endpoints serve. */
  readonly internalPort: number;
  /** What clients call. */
  readonly externalPort: number;
  readonly distribution: Distribution;
  /** In the order of their bits. */
  readonly flags: readonly MappingFlag[];
  readonly otherFlags: number;
}

/** Stateful NAT from addresses and ports to endpoints. */
export interface LoadBalancer {
  readonly id: string;
  /** Ids, ascending. */
  readonly endpoints: readonly string[];
  /** The source that endpoints see; empty where HNS chooses. */
  readonly sourceVip: string;
  /** Empty: all addresses of the node. */
  readonly frontendVips: readonly string[];
  readonly portMappings: readonly PortMapping[];
  /** Direct server return. */
  readonly isDsr: boolean;
  readonly isIpv6: boolean;
  readonly otherFlags: number;
}

const protocolSchema = number.transform((value, context): Protocol => {
  for (const [protocol, own] of PROTOCOLS) if (own === value) return protocol;
  context.addIssue({ code: "custom", message: "6, 17 or 132" });
  return z.NEVER;
});

const PROTOCOLS: readonly (readonly [Protocol, number])[] = [
  ["TCP", PROTOCOL_NUMBERS.TCP],
  ["UDP", PROTOCOL_NUMBERS.UDP],
  ["SCTP", PROTOCOL_NUMBERS.SCTP],
];

const ALL_MAPPING_FLAGS: readonly MappingFlag[] = [
  "ilb",
  "localRoutedVip",
  "useMux",
  "preserveDip",
  "vipExternalIp",
];

const mappingSchema: z.ZodType<PortMapping> = z
  .object({
    Protocol: protocolSchema,
    InternalPort: number,
    ExternalPort: number,
    DistributionType: number.transform((value, context): Distribution => {
      const known = DISTRIBUTIONS[value];
      if (known !== undefined) return known;
      context.addIssue({ code: "custom", message: "0, 1 or 2" });
      return z.NEVER;
    }),
    Flags: number,
  })
  .transform((fields) => ({
    protocol: fields.Protocol,
    internalPort: fields.InternalPort,
    externalPort: fields.ExternalPort,
    distribution: fields.DistributionType,
    flags: ALL_MAPPING_FLAGS.filter((flag) => (fields.Flags & MAPPING_FLAGS[flag]) !== 0),
    otherFlags: fields.Flags & ~bitsOf(ALL_MAPPING_FLAGS),
  }));

const schema = z.object({
  ID: guid,
  HostComputeEndpoints: listOf(guid),
  SourceVIP: address,
  FrontendVIPs: listOf(address),
  PortMappings: listOf(mappingSchema),
  Flags: number,
});

/** @throws CoreError ERR_SYSTEM_CALL */
export function parseLoadBalancer(json: string): LoadBalancer {
  const fields = parseHcn(schema, json, "a load balancer");
  return {
    id: fields.ID,
    endpoints: fields.HostComputeEndpoints.toSorted(),
    sourceVip: fields.SourceVIP,
    frontendVips: fields.FrontendVIPs,
    portMappings: fields.PortMappings,
    isDsr: (fields.Flags & DSR_FLAG) !== 0,
    isIpv6: (fields.Flags & IPV6_FLAG) !== 0,
    otherFlags: fields.Flags & ~(DSR_FLAG | IPV6_FLAG),
  };
}

export function renderLoadBalancer(balancer: LoadBalancer): string {
  const { isDsr, isIpv6, otherFlags } = balancer;
  const fields = compact({
    ID: balancer.id,
    HostComputeEndpoints: balancer.endpoints,
    SourceVIP: balancer.sourceVip,
    FrontendVIPs: balancer.frontendVips,
    PortMappings: balancer.portMappings.map((mapping) =>
      compact({
        Protocol: PROTOCOL_NUMBERS[mapping.protocol],
        InternalPort: mapping.internalPort,
        ExternalPort: mapping.externalPort,
        DistributionType: DISTRIBUTIONS.indexOf(mapping.distribution),
        Flags: bitsOf(mapping.flags) | mapping.otherFlags,
      }),
    ),
    Flags: (isDsr ? DSR_FLAG : 0) | (isIpv6 ? IPV6_FLAG : 0) | otherFlags,
    SchemaVersion: SCHEMA_VERSION,
  });
  return JSON.stringify(fields);
}

function bitsOf(flags: readonly MappingFlag[]): number {
  return flags.reduce((bits, flag) => bits | MAPPING_FLAGS[flag], 0);
}
