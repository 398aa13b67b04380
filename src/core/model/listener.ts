import * as z from "zod";
import { canonicalIp, parseHostPort } from "./address.ts";
import {
  cidrSchema,
  keySchema,
  type Metadata,
  metadataFields,
  optionalPortSchema,
  type Protocol,
} from "./common.ts";
import { MAX_PEERS } from "./peer-pattern.ts";
import { peerPatternSchema } from "./peer-pattern-schema.ts";
import {
  type WebsocksAgent,
  type WebsocksServer,
  websocksAgentSchema,
  websocksServerSchema,
} from "./websocks.ts";

export type ListenerMode =
  | "tcp"
  | "http"
  | "h2"
  | "udp"
  | "socks5"
  | "dns"
  | "websocks"
  | "websocks-agent";

export interface ListenerTls {
  /** Keys of certificates; the first is for clients that name no host. */
  readonly certificates: readonly string[];
  /** PEM file of the authorities whose clients are let in; empty: clients need no certificate. */
  readonly clientCaFile: string;
  /**
   * Who of them is let in, by the identity in their certificates (`peer-pattern.ts`); empty: all. Where there are
   * some and no `clientCaFile`, the authorities are those of the first certificate.
   */
  readonly peers: readonly string[];
}

export interface ProxyProtocol {
  readonly send: "none" | "v1" | "v2";
  /** Networks whose PROXY headers are believed. */
  readonly acceptFrom: readonly string[];
}

/** An address on which a node answers for a service. */
export interface Listener extends Metadata {
  readonly kind: "Listener";
  /** An IP address, or a path for a unix socket (then `port` is 0). */
  readonly address: string;
  readonly port: number;
  /** Key of the service that it serves. */
  readonly service: string;
  /** Name of the service's port; may be empty where the service has one only. */
  readonly servicePort: string;
  readonly mode: ListenerMode;
  /** Undefined: plain. */
  readonly tls: ListenerTls | undefined;
  readonly proxyProtocol: ProxyProtocol;
  /** Key of a security group; empty: everyone may call. */
  readonly securityGroup: string;
  readonly idleTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly inBufferBytes: number;
  readonly outBufferBytes: number;
  /** Names of event-loop groups; empty: the default ones. */
  readonly acceptLoops: string;
  readonly workLoops: string;
  /**
   * Whether another group is taken where the one that suits what a client asks for has no healthy
   * server. Not said: SOCKS5 and DNS do not, as their clients ask for that group by its name.
   */
  readonly fallsBack: boolean;
  /** SOCKS5 and DNS: whether targets outside the service are served too. */
  readonly allowOthers: boolean;
  /**
   * SOCKS5 and WebSocks: a file of `name:password` lines, one of which a client must give; empty: nobody
   * is asked, but in WebSocks.
   */
  readonly usersFile: string;
  /** HTTP: networks whose word is taken for who their client is (`X-Forwarded-For`). */
  readonly trustedHops: readonly string[];
  /** DNS: a file like /etc/hosts that answers before the service does; empty: none. */
  readonly hostsFile: string;
  /** DNS: resolvers (`IP` or `IP:PORT`) for other names, where those are served; empty: the system's. */
  readonly forwardTo: readonly string[];
  /** DNS: for how many seconds answers about servers may be kept; 0: not at all. */
  readonly dnsTtlSeconds: number;
  /** For mode `websocks`. */
  readonly websocks: WebsocksServer | undefined;
  /** For mode `websocks-agent`. */
  readonly websocksAgent: WebsocksAgent | undefined;
  /** The node that it is for; empty: every node. */
  readonly node: string;
}

/** Servers come and go: nobody shall remember them for long. */
export const DEFAULT_TTL_SECONDS = 5;
/** A day. */
export const MAX_TTL_SECONDS = 86_400;

const PLAIN_PROXY: ProxyProtocol = Object.freeze({ send: "none", acceptFrom: [] });

export const modeSchema: z.ZodType<ListenerMode> = z.enum([
  "tcp",
  "http",
  "h2",
  "udp",
  "socks5",
  "dns",
  "websocks",
  "websocks-agent",
]);

const listenerTlsSchema: z.ZodType<ListenerTls> = z.strictObject({
  certificates: z.array(keySchema).min(1),
  clientCaFile: z.string().default(""),
  peers: z.array(peerPatternSchema).max(MAX_PEERS).default([]),
});

/** `IP`, `IP:PORT` or `[IPV6]:PORT`. */
export const resolverSchema: z.ZodType<string> = z
  .string()
  .refine(
    (text) =>
      canonicalIp(text) !== undefined || canonicalIp(parseHostPort(text)?.host ?? "") !== undefined,
    "the address of a resolver: IP, IP:PORT or [IPV6]:PORT",
  );

export const proxyProtocolSchema: z.ZodType<ProxyProtocol> = z.strictObject({
  send: z.enum(["none", "v1", "v2"]).default("none"),
  acceptFrom: z.array(cidrSchema).default([]),
});

export const listenerSchema: z.ZodType<Listener> = z
  .strictObject({
    kind: z.literal("Listener"),
    ...metadataFields,
    address: z.string().transform((text, context) => {
      const address = text.startsWith("/") ? text : canonicalIp(text);
      if (address !== undefined) return address;
      context.addIssue({ code: "custom", message: "an IP address, or the path of a unix socket" });
      return z.NEVER;
    }),
    port: optionalPortSchema,
    service: keySchema,
    servicePort: z.string().default(""),
    mode: modeSchema.default("tcp"),
    tls: listenerTlsSchema.optional(),
    proxyProtocol: proxyProtocolSchema.default(PLAIN_PROXY),
    securityGroup: z.union([z.literal(""), keySchema]).default(""),
    idleTimeoutMs: z.int().min(1).default(900_000),
    connectTimeoutMs: z.int().min(1).default(5000),
    inBufferBytes: z.int().min(512).max(16_777_216).default(16_384),
    outBufferBytes: z.int().min(512).max(16_777_216).default(16_384),
    acceptLoops: z.string().default(""),
    workLoops: z.string().default(""),
    fallsBack: z.boolean().optional(),
    allowOthers: z.boolean().default(false),
    usersFile: z.string().default(""),
    trustedHops: z.array(cidrSchema).default([]),
    hostsFile: z.string().default(""),
    forwardTo: z.array(resolverSchema).default([]),
    dnsTtlSeconds: z.int().min(0).max(MAX_TTL_SECONDS).default(DEFAULT_TTL_SECONDS),
    websocks: websocksServerSchema.optional(),
    websocksAgent: websocksAgentSchema.optional(),
    node: z.string().default(""),
  })
  .refine((listener) => listener.address.startsWith("/") === (listener.port === 0), {
    path: ["port"],
    message: "a port from 1 to 65535 for an IP address, and none for a unix socket",
  })
  .refine(hasCredentials, {
    path: ["websocks", "user"],
    message: "mode websocks lets nobody in without: a user and a passwordFile, or a usersFile",
  })
  .refine(({ mode, websocksAgent }) => mode !== "websocks-agent" || websocksAgent !== undefined, {
    path: ["websocksAgent"],
    message: "needed with mode websocks-agent: the servers of the tunnels",
  })
  // The fields are there also where they are undefined: equal objects have equal keys.
  .transform((listener) => ({
    ...listener,
    tls: listener.tls,
    websocks: listener.websocks,
    websocksAgent: listener.websocksAgent,
    fallsBack: listener.fallsBack ?? !namesItsGroup(listener.mode),
  }));

function hasCredentials({
  mode,
  usersFile,
  websocks,
}: {
  readonly mode: ListenerMode;
  readonly usersFile: string;
  readonly websocks?: WebsocksServer | undefined;
}): boolean {
  if (mode !== "websocks" || usersFile !== "") return true;
  return websocks !== undefined && websocks.user !== "" && websocks.passwordFile !== "";
}

function namesItsGroup(mode: ListenerMode): boolean {
  return mode === "socks5" || mode === "dns";
}

/** The protocol that a listener's clients speak below its mode; of two the first one that they try. */
export function protocolOf(listener: Pick<Listener, "mode">): Protocol {
  return listener.mode === "udp" || listener.mode === "dns" ? "UDP" : "TCP";
}

/** All of them: DNS is spoken over both. */
export function protocolsOf(listener: Pick<Listener, "mode">): readonly Protocol[] {
  return listener.mode === "dns" ? ["UDP", "TCP"] : [protocolOf(listener)];
}

/** Whether it is this port of its service that a listener leads to: it need not name the only one. */
export function leadsTo(
  { servicePort }: Pick<Listener, "servicePort">,
  portName: string,
  portCount: number,
): boolean {
  return servicePort === portName || (servicePort === "" && portCount === 1);
}
