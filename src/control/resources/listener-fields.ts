import { canonicalIp, formatHostPort } from "../../core/model/address.ts";
import type { Listener, ListenerMode, ProxyProtocol } from "../../core/model/listener.ts";
import { invalid } from "../../core/model/problems.ts";
import {
  bareReference,
  eitherFlag,
  type Field,
  integer,
  type Lens,
  list,
  reference,
  references,
  text,
  word,
} from "./fields.ts";
import { A_NETWORK, A_RESOLVER } from "./rules.ts";

/** The longest time that a timer can wait for. */
const MAX_TIME_MS = 2_147_483_647;
const MIN_BUFFER_BYTES = 512;
const MAX_BUFFER_BYTES = 16_777_216;

type Values = {
  readonly [F in keyof Listener]: Listener[F];
};

function of<F extends keyof Values>(field: F): Lens<Listener, Values[F]> {
  return {
    get: (listener) => listener[field],
    set: (listener, value) => ({ ...listener, [field]: value }),
  };
}

function ofProxyProtocol<F extends keyof ProxyProtocol>(
  field: F,
): Lens<Listener, ProxyProtocol[F]> {
  return {
    get: ({ proxyProtocol }) => proxyProtocol[field],
    set: (listener, value) => ({
      ...listener,
      proxyProtocol: { ...listener.proxyProtocol, [field]: value },
    }),
  };
}

/** Of connections, which unix sockets have too. */
const ADDRESS = addressField("IP:PORT, [IPV6]:PORT or unix:PATH", (path) => path.startsWith("/"));

/** Of datagrams. */
const IP_ADDRESS = addressField("IP:PORT or [IPV6]:PORT", () => false);

/** @param isPath whether that is the path of a unix socket that it could have */
function addressField(form: string, isPath: (path: string) => boolean): Field<Listener> {
  return {
    specs: [
      {
        kind: "address",
        name: "address",
        field: "address",
        required: true,
        help: `Where it listens: ${form}; to change it, remove and add`,
      },
    ],
    isFixed: true,
    show: ({ address, port }) => (port === 0 ? `unix:${address}` : formatHostPort(address, port)),
    read: (listener, params, problems) => {
      const given = params.address("address");
      if (given?.kind === "unix" && isPath(given.path)) {
        return { ...listener, address: given.path, port: 0 };
      }
      const address = given?.kind === "tcp" ? canonicalIp(given.host) : undefined;
      if (given?.kind === "tcp" && address !== undefined) {
        return { ...listener, address, port: given.port };
      }
      const shown = given?.kind === "unix" ? `unix:${given.path}` : given?.host;
      const expected = `${form}, IP being one of this machine, 0.0.0.0 or ::`;
      problems.push(invalid(["address"], shown, expected));
      return listener;
    },
  };
}

/** @param field its name in JSON, which is not the same for all listeners */
function upstream(field: string): Field<Listener> {
  return reference(
    {
      name: "upstream",
      field,
      to: "upstream",
      required: true,
      help: "The upstream, or any other service, that it sends to",
    },
    of("service"),
  );
}

const SERVICE_PORT = text<Listener>(
  {
    name: "service-port",
    field: "servicePort",
    placeholder: "NAME",
    help: "Name of the service's port, where the service has several",
    standard: "none",
  },
  of("servicePort"),
);

/** Where it runs. */
function loops(workField: string): readonly Field<Listener>[] {
  return [
    bareReference(
      {
        name: "acceptor-elg",
        field: "acceptorLoopGroup",
        to: "event-loop-group",
        help: "Event loops that accept its connections",
        standard: "the default group",
      },
      of("acceptLoops"),
    ),
    bareReference(
      {
        name: "event-loop-group",
        field: workField,
        to: "event-loop-group",
        help: "Event loops that serve its connections",
        standard: "the default group",
      },
      of("workLoops"),
    ),
  ];
}

const IDLE_TIMEOUT = integer<Listener>(
  {
    name: "timeout",
    field: "timeout",
    min: 1,
    max: MAX_TIME_MS,
    help: "Milliseconds after which a connection or session in which nothing moves is closed",
    standard: "900000",
  },
  of("idleTimeoutMs"),
);

const CONNECT_TIMEOUT = integer<Listener>(
  {
    name: "connect-timeout",
    field: "connectTimeout",
    min: 1,
    max: MAX_TIME_MS,
    help: "Milliseconds after which a server that does not answer is given up",
    standard: "5000",
  },
  of("connectTimeoutMs"),
);

const BUFFERS: readonly Field<Listener>[] = [
  integer(
    {
      name: "in-buffer-size",
      field: "inBufferSize",
      min: MIN_BUFFER_BYTES,
      max: MAX_BUFFER_BYTES,
      help: "Bytes kept of a client until its server takes them",
      standard: "16384",
    },
    of("inBufferBytes"),
  ),
  integer(
    {
      name: "out-buffer-size",
      field: "outBufferSize",
      min: MIN_BUFFER_BYTES,
      max: MAX_BUFFER_BYTES,
      help: "Bytes kept of a server until its client takes them",
      standard: "16384",
    },
    of("outBufferBytes"),
  ),
];

const SECURITY_GROUP = reference<Listener>(
  {
    name: "security-group",
    field: "securityGroup",
    to: "security-group",
    help: "Who may call it",
    standard: "everyone",
  },
  of("securityGroup"),
);

const TCP_MODES: readonly ListenerMode[] = ["tcp", "http", "h2"];

const PROTOCOL = word<Listener, ListenerMode>(
  {
    name: "protocol",
    field: "protocol",
    values: TCP_MODES,
    aliases: { "http/1.x": "http" },
    help: "What is balanced: connections (tcp), or single requests (http, h2)",
    standard: "tcp",
  },
  TCP_MODES,
  of("mode"),
);

const TLS: readonly Field<Listener>[] = [
  references(
    {
      name: "cert-key",
      field: "listOfCertKey",
      placeholder: "CERT-KEY",
      references: "cert-key",
      help: "Certificates of TLS; the first is for clients that name no host",
      standard: "none: no TLS",
    },
    {
      get: ({ tls }) => tls?.certificates ?? [],
      set: (listener, certificates) => ({
        ...listener,
        tls:
          certificates.length === 0
            ? undefined
            : { certificates, clientCaFile: listener.tls?.clientCaFile ?? "" },
      }),
    },
  ),
  text(
    {
      name: "client-ca",
      field: "clientCa",
      placeholder: "FILE",
      help: "PEM file of the authorities whose clients are let in, with TLS",
      standard: "none: clients need no certificate",
    },
    {
      get: ({ tls }) => tls?.clientCaFile ?? "",
      // Without certificates it is said of nothing: the check of the resource tells that.
      set: (listener, clientCaFile) => ({
        ...listener,
        tls:
          listener.tls === undefined && clientCaFile === ""
            ? undefined
            : { certificates: listener.tls?.certificates ?? [], clientCaFile },
      }),
    },
  ),
];

const PROXY_WORDS = ["none", "v1", "v2"] as const;

const PROXY_PROTOCOL: readonly Field<Listener>[] = [
  word(
    {
      name: "proxy-protocol",
      field: "proxyProtocol",
      values: PROXY_WORDS,
      help: "PROXY header that servers are sent, so that they know the client",
      standard: "none",
    },
    PROXY_WORDS,
    ofProxyProtocol("send"),
  ),
  list(
    {
      name: "accept-proxy-from",
      field: "acceptProxyFrom",
      placeholder: "NETWORK",
      help: "Networks whose PROXY headers are believed",
      standard: "none",
    },
    ofProxyProtocol("acceptFrom"),
    A_NETWORK,
  ),
];

const TRUSTED_HOPS = list<Listener>(
  {
    name: "trusted-hops",
    field: "trustedHops",
    placeholder: "NETWORK",
    help: "Networks whose word is taken for who their client is (X-Forwarded-For)",
    standard: "none",
  },
  of("trustedHops"),
  A_NETWORK,
);

function fallsBack(standard: string): Field<Listener> {
  return eitherFlag(
    {
      name: "falls-back",
      field: "fallsBack",
      help: "Where the group that suits a request has no healthy server, another one is taken",
      standard,
    },
    {
      name: "not-falls-back",
      field: "notFallsBack",
      help: "Where the group that suits a request has no healthy server, the request fails",
    },
    of("fallsBack"),
  );
}

const ALLOW_OTHERS = eitherFlag<Listener>(
  {
    name: "allow-non-backend",
    field: "allowNonBackend",
    help: "Serves targets that are not in the upstream too",
    standard: "deny-non-backend",
  },
  {
    name: "deny-non-backend",
    field: "denyNonBackend",
    help: "Serves nothing but what is in the upstream",
  },
  of("allowOthers"),
);

const NODE = text<Listener>(
  {
    name: "node",
    field: "node",
    placeholder: "NODE",
    help: "The node that it is for",
    standard: "every node",
  },
  of("node"),
);

export const TCP_FIELDS: readonly Field<Listener>[] = [
  ADDRESS,
  upstream("backend"),
  SERVICE_PORT,
  PROTOCOL,
  ...loops("workerLoopGroup"),
  IDLE_TIMEOUT,
  CONNECT_TIMEOUT,
  ...BUFFERS,
  ...TLS,
  SECURITY_GROUP,
  ...PROXY_PROTOCOL,
  TRUSTED_HOPS,
  fallsBack("falls-back"),
  NODE,
];

export const UDP_FIELDS: readonly Field<Listener>[] = [
  IP_ADDRESS,
  upstream("backend"),
  SERVICE_PORT,
  ...loops("workerLoopGroup"),
  IDLE_TIMEOUT,
  SECURITY_GROUP,
  fallsBack("falls-back"),
  NODE,
];

export const SOCKS5_FIELDS: readonly Field<Listener>[] = [
  ADDRESS,
  upstream("backend"),
  SERVICE_PORT,
  ...loops("workerLoopGroup"),
  IDLE_TIMEOUT,
  CONNECT_TIMEOUT,
  ...BUFFERS,
  SECURITY_GROUP,
  ...PROXY_PROTOCOL,
  ALLOW_OTHERS,
  text(
    {
      name: "users",
      field: "users",
      placeholder: "FILE",
      help: "File of NAME:PASSWORD lines, one of which a client must give",
      standard: "none: nobody is asked",
    },
    of("usersFile"),
  ),
  fallsBack("not-falls-back"),
  NODE,
];

export const DNS_FIELDS: readonly Field<Listener>[] = [
  IP_ADDRESS,
  upstream("rrsets"),
  SERVICE_PORT,
  ...loops("eventLoopGroup"),
  IDLE_TIMEOUT,
  SECURITY_GROUP,
  ALLOW_OTHERS,
  text(
    {
      name: "hosts",
      field: "hosts",
      placeholder: "FILE",
      help: "File like /etc/hosts that answers before the upstream does",
      standard: "none",
    },
    of("hostsFile"),
  ),
  list(
    {
      name: "forward-to",
      field: "forwardTo",
      placeholder: "RESOLVER",
      help: "Resolvers (IP or IP:PORT) for other names, where those are served",
      standard: "those of the system",
    },
    of("forwardTo"),
    A_RESOLVER,
  ),
  fallsBack("not-falls-back"),
  NODE,
];
