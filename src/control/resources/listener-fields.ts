import type { Listener, ListenerTls, ProxyProtocol } from "../../core/model/listener.ts";
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
import { A_NETWORK, A_PEER } from "./rules.ts";

/** The longest time that a timer can wait for. */
const MAX_TIME_MS = 2_147_483_647;
const MIN_BUFFER_BYTES = 512;
const MAX_BUFFER_BYTES = 16_777_216;

/** A field of a listener as it is. */
export function ofListener<F extends keyof Listener>(field: F): Lens<Listener, Listener[F]> {
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

/** @param field its name in JSON, which is not the same for all listeners */
export function upstream(field: string): Field<Listener> {
  return reference(
    {
      name: "upstream",
      field,
      to: "upstream",
      required: true,
      help: "The upstream, or any other service, that it sends to",
    },
    ofListener("service"),
  );
}

export const SERVICE_PORT: Field<Listener> = text(
  {
    name: "service-port",
    field: "servicePort",
    placeholder: "NAME",
    help: "Name of the service's port, where the service has several",
    standard: "none",
  },
  ofListener("servicePort"),
);

/** Where it runs. */
export function loops(workField: string): readonly Field<Listener>[] {
  return [
    bareReference(
      {
        name: "acceptor-elg",
        field: "acceptorLoopGroup",
        to: "event-loop-group",
        help: "Event loops that accept its connections",
        standard: "the default group",
      },
      ofListener("acceptLoops"),
    ),
    bareReference(
      {
        name: "event-loop-group",
        field: workField,
        to: "event-loop-group",
        help: "Event loops that serve its connections",
        standard: "the default group",
      },
      ofListener("workLoops"),
    ),
  ];
}

export const IDLE_TIMEOUT: Field<Listener> = integer(
  {
    name: "timeout",
    field: "timeout",
    min: 1,
    max: MAX_TIME_MS,
    help: "Milliseconds after which a connection or session in which nothing moves is closed",
    standard: "900000",
  },
  ofListener("idleTimeoutMs"),
);

export const CONNECT_TIMEOUT: Field<Listener> = integer(
  {
    name: "connect-timeout",
    field: "connectTimeout",
    min: 1,
    max: MAX_TIME_MS,
    help: "Milliseconds after which a server that does not answer is given up",
    standard: "5000",
  },
  ofListener("connectTimeoutMs"),
);

export const BUFFERS: readonly Field<Listener>[] = [
  integer(
    {
      name: "in-buffer-size",
      field: "inBufferSize",
      min: MIN_BUFFER_BYTES,
      max: MAX_BUFFER_BYTES,
      help: "Bytes kept of a client until its server takes them",
      standard: "16384",
    },
    ofListener("inBufferBytes"),
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
    ofListener("outBufferBytes"),
  ),
];

export const SECURITY_GROUP: Field<Listener> = reference(
  {
    name: "security-group",
    field: "securityGroup",
    to: "security-group",
    help: "Who may call it",
    standard: "everyone",
  },
  ofListener("securityGroup"),
);

const NO_TLS: ListenerTls = { certificates: [], clientCaFile: "", peers: [] };

export const TLS: readonly Field<Listener>[] = [
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
        tls: certificates.length === 0 ? undefined : { ...NO_TLS, ...listener.tls, certificates },
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
            : { ...NO_TLS, ...listener.tls, clientCaFile },
      }),
    },
  ),
  list(
    {
      name: "peers",
      field: "peers",
      placeholder: "IDENTITY",
      help: "Who of its clients is let in, by the identity in their certificates: spiffe://DOMAIN/PATH, .../* for all below it, ! before who is not; the first that fits decides",
      standard: "all with a certificate of client-ca",
    },
    {
      get: ({ tls }) => tls?.peers ?? [],
      set: (listener, peers) => ({
        ...listener,
        tls:
          listener.tls === undefined && peers.length === 0
            ? undefined
            : { ...NO_TLS, ...listener.tls, peers },
      }),
    },
    A_PEER,
  ),
];

const PROXY_WORDS = ["none", "v1", "v2"] as const;

export const PROXY_PROTOCOL: readonly Field<Listener>[] = [
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

export const TRUSTED_HOPS: Field<Listener> = list(
  {
    name: "trusted-hops",
    field: "trustedHops",
    placeholder: "NETWORK",
    help: "Networks whose word is taken for who their client is (X-Forwarded-For)",
    standard: "none",
  },
  ofListener("trustedHops"),
  A_NETWORK,
);

export function fallsBack(standard: string): Field<Listener> {
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
    ofListener("fallsBack"),
  );
}

export const ALLOW_OTHERS: Field<Listener> = eitherFlag(
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
  ofListener("allowOthers"),
);

export const NODE: Field<Listener> = text(
  {
    name: "node",
    field: "node",
    placeholder: "NODE",
    help: "The node that it is for",
    standard: "every node",
  },
  ofListener("node"),
);
