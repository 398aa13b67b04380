import * as z from "zod";
import {
  cidrSchema,
  ipSchema,
  nameSchema,
  optionalPortSchema,
  portSchema,
} from "../../../core/model/common.ts";

/** Addresses of both families in one list. */
type Ips = readonly string[];

export interface KpngService {
  readonly namespace: string;
  readonly name: string;
  readonly type: string;
  readonly ips: {
    readonly clusterips: Ips;
    readonly externalips: Ips;
    readonly loadbalancerips: Ips;
    readonly headless: boolean;
  };
  readonly ports: readonly {
    readonly name: string;
    readonly protocol: number;
    readonly port: number;
    readonly nodeport: number;
    readonly targetport: number;
    readonly targetportname: string;
  }[];
  readonly externaltraffictolocal: boolean;
  readonly internaltraffictolocal: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly ipfilters: readonly { readonly sourceranges: readonly string[] }[];
  readonly sessionaffinity: { readonly clientip: { readonly timeoutseconds: number } } | undefined;
  readonly healthchecknodeport: number;
}

export interface KpngEndpoint {
  readonly sourcename: string;
  readonly podname: string;
  readonly nodename: string;
  readonly endpoint: {
    readonly ips: Ips;
    readonly portoverrides: readonly { readonly name: string; readonly port: number }[];
  };
  readonly conditions: { readonly ready: boolean };
  readonly topology: { readonly node: string; readonly zone: string };
  readonly hints: { readonly zones: readonly string[] };
}

export interface KpngNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly topology: { readonly zone: string };
}

export interface KpngState {
  readonly nodes: readonly KpngNode[];
  readonly services: readonly {
    readonly service: KpngService;
    readonly endpoints: readonly KpngEndpoint[];
  }[];
}

/** What KPNG leaves out it writes as null, as an empty value, or not at all. */
function optional<T extends z.ZodType>(schema: T, empty: unknown): z.ZodType<z.output<T>> {
  return z
    .preprocess((value) => value ?? empty, schema)
    .optional()
    .transform((value) => value ?? schema.parse(empty));
}

const text = optional(z.string(), "");
const flag = optional(z.boolean(), false);
const port = optional(optionalPortSchema, 0);
const strings = optional(z.record(z.string(), z.string()), {});

const ips = optional(
  z
    .strictObject({ v4: optional(z.array(ipSchema), []), v6: optional(z.array(ipSchema), []) })
    .transform(({ v4, v6 }) => [...v4, ...v6]),
  {},
);

const topology = optional(z.strictObject({ node: text, zone: text }), {});

const service = z.strictObject({
  namespace: optional(nameSchema, "default"),
  name: nameSchema,
  type: text,
  ips: optional(
    z.strictObject({ clusterips: ips, externalips: ips, loadbalancerips: ips, headless: flag }),
    {},
  ),
  mapip: flag,
  ports: optional(
    z.array(
      z.strictObject({
        name: text,
        protocol: z.literal([1, 2, 3]),
        port: portSchema,
        nodeport: port,
        targetport: port,
        targetportname: text,
      }),
    ),
    [],
  ),
  externaltraffictolocal: flag,
  internaltraffictolocal: flag,
  labels: strings,
  annotations: strings,
  ipfilters: optional(
    z.array(z.strictObject({ targetips: ips, sourceranges: optional(z.array(cidrSchema), []) })),
    [],
  ),
  sessionaffinity: z
    .strictObject({ clientip: z.strictObject({ timeoutseconds: z.int().min(1).max(86_400) }) })
    .nullish()
    .transform((affinity) => affinity ?? undefined),
  healthchecknodeport: port,
});

const endpoint = z.strictObject({
  hash: z.unknown().optional(),
  namespace: text,
  sourcename: text,
  servicename: text,
  podname: text,
  // Of older versions, which wrote it instead of the topology.
  nodename: text,
  endpoint: z.strictObject({
    hostname: text,
    ips,
    local: flag,
    portoverrides: optional(z.array(z.strictObject({ name: text, port: portSchema })), []),
    scopes: z.unknown().optional(),
  }),
  conditions: optional(z.strictObject({ ready: flag }), { ready: true }),
  topology,
  hints: optional(z.strictObject({ zones: optional(z.array(z.string()), []) }), {}),
});

/** KPNG's `globalv1-state.yaml`: its messages, with all names in lower case. */
export const kpngStateSchema: z.ZodType<KpngState> = z.strictObject({
  nodes: optional(
    z.array(z.strictObject({ name: nameSchema, labels: strings, annotations: strings, topology })),
    [],
  ),
  services: optional(
    z.array(
      z.strictObject({
        service,
        endpoints: optional(z.array(endpoint), []),
        // Of older versions; means nothing any more.
        topologykeys: z.unknown().optional(),
      }),
    ),
    [],
  ),
});
