import {
  BALANCING_METHODS,
  type Group,
  type HealthCheck,
  type HealthCheckProtocol,
  type HttpCheck,
  METHOD_SHORTS,
} from "../../core/model/group.ts";
import type { RouteHints } from "../../core/model/route-hints.ts";
import { type Field, integer, type Lens, list, reference, text, word } from "./fields.ts";
import { A_HOST, A_HOST_PATTERN, A_PATH, A_PEER, A_STATUS, AN_HTTP_METHOD } from "./rules.ts";

const CHECK_PROTOCOLS: readonly HealthCheckProtocol[] = ["none", "tcp", "tcpDelay", "http", "dns"];
const ANY_BUT_FAILURE = ["1xx", "2xx", "3xx", "4xx"];
const AN_HOUR_MS = 3_600_000;

function ofCheck<F extends keyof HealthCheck>(field: F): Lens<Group, HealthCheck[F]> {
  return {
    get: (group) => group.healthCheck[field],
    set: (group, value) => ({ ...group, healthCheck: { ...group.healthCheck, [field]: value } }),
  };
}

function ofHttp<F extends keyof HttpCheck>(field: F): Lens<Group, HttpCheck[F]> {
  const http = ofCheck("http");
  return {
    get: (group) => http.get(group)[field],
    set: (group, value) => http.set(group, { ...http.get(group), [field]: value }),
  };
}

/** An empty text takes away what was there: then the standard holds. */
function orStandard<O>(lens: Lens<O, string>, standard: string): Lens<O, string> {
  return { ...lens, set: (object, value) => lens.set(object, value === "" ? standard : value) };
}

/** What carries hints: a group, or its attachment to an upstream. */
interface Hinted {
  readonly hints: RouteHints;
}

function ofHints<O extends Hinted, F extends keyof RouteHints>(field: F): Lens<O, RouteHints[F]> {
  return {
    get: ({ hints }) => hints[field],
    set: (object, value) => ({ ...object, hints: { ...object.hints, [field]: value } }),
  };
}

/** Which requests it is for. */
export function hintFields<O extends Hinted>(): readonly Field<O>[] {
  return [
    text(
      {
        name: "hint-host",
        field: "hintHost",
        placeholder: "HOST",
        help: "Host that requests for these servers ask for: a.example, *.example for its sub-domains, * for any",
        standard: "none",
      },
      ofHints("host"),
      A_HOST_PATTERN,
    ),
    integer(
      {
        name: "hint-port",
        field: "hintPort",
        min: 0,
        max: 65_535,
        help: "Port that requests for these servers ask for; 0 for any",
        standard: "0",
      },
      ofHints("port"),
    ),
    text(
      {
        name: "hint-path",
        field: "hintPath",
        placeholder: "PATH",
        help: "Beginning of the path that requests for these servers ask for, by whole segments",
        standard: "none",
      },
      ofHints("path"),
      A_PATH,
    ),
  ];
}

const CHECK_TIMES: readonly Field<Group>[] = [
  integer(
    {
      name: "timeout",
      field: "timeout",
      min: 1,
      max: AN_HOUR_MS,
      help: "Milliseconds after which a health check has failed",
      standard: "2000",
    },
    ofCheck("timeoutMs"),
  ),
  integer(
    {
      name: "period",
      field: "period",
      min: 10,
      max: AN_HOUR_MS,
      help: "Milliseconds from one health check to the next",
      standard: "5000",
    },
    ofCheck("intervalMs"),
  ),
  integer(
    {
      name: "up",
      field: "up",
      min: 1,
      max: 100,
      help: "Successes in a row that bring a server up",
      standard: "2",
    },
    ofCheck("up"),
  ),
  integer(
    {
      name: "down",
      field: "down",
      min: 1,
      max: 100,
      help: "Failures in a row that take a server down",
      standard: "3",
    },
    ofCheck("down"),
  ),
];

const CHECK_DETAILS: readonly Field<Group>[] = [
  text(
    {
      name: "check-method",
      field: "checkMethod",
      placeholder: "METHOD",
      help: "Method of the request that an http check sends",
      standard: "GET",
    },
    orStandard(ofHttp("method"), "GET"),
    AN_HTTP_METHOD,
  ),
  text(
    {
      name: "check-path",
      field: "checkPath",
      placeholder: "PATH",
      help: "Path that an http check asks for",
      standard: "/",
    },
    orStandard(ofHttp("path"), "/"),
    A_PATH,
  ),
  text(
    {
      name: "check-host",
      field: "checkHost",
      placeholder: "HOST",
      help: "Host that an http check asks for",
      standard: "the address of the server",
    },
    ofHttp("host"),
    A_HOST,
  ),
  list(
    {
      name: "check-status",
      field: "checkStatus",
      placeholder: "CODE",
      help: "Answers to an http check that count as healthy: classes such as 2xx, codes such as 204",
      standard: "1xx,2xx,3xx,4xx",
    },
    {
      ...ofHttp("status"),
      set: (group, status) =>
        ofHttp("status").set(group, status.length === 0 ? ANY_BUT_FAILURE : status),
    },
    A_STATUS,
  ),
  text(
    {
      name: "check-name",
      field: "checkName",
      placeholder: "NAME",
      help: "Name that a dns check asks for",
      standard: "none",
    },
    ofCheck("dnsName"),
    A_HOST,
  ),
];

/** Everything that is typed of a group, its annotations excepted. */
export const GROUP_FIELDS: readonly Field<Group>[] = [
  word(
    {
      name: "method",
      field: "method",
      values: BALANCING_METHODS,
      aliases: METHOD_SHORTS,
      help: "How a server is chosen",
      standard: "weighted-round-robin",
    },
    BALANCING_METHODS,
    {
      get: ({ method }) => method,
      set: (group, method) => ({ ...group, method }),
    },
  ),
  word(
    {
      name: "protocol",
      field: "protocol",
      values: CHECK_PROTOCOLS,
      help: "How servers are checked; none: all count as healthy",
      standard: "tcp",
    },
    CHECK_PROTOCOLS,
    ofCheck("protocol"),
  ),
  ...CHECK_TIMES,
  ...CHECK_DETAILS,
  integer(
    {
      name: "slow-start",
      field: "slowStart",
      min: 0,
      max: AN_HOUR_MS,
      help: "Milliseconds in which a server that came up gets its full share",
      standard: "0",
    },
    {
      get: ({ slowStartMs }) => slowStartMs,
      set: (group, slowStartMs) => ({ ...group, slowStartMs }),
    },
  ),
  reference(
    {
      name: "tls",
      field: "tls",
      to: "cert-key",
      help: "Certificate that servers are shown, with TLS; its ca is the authority of theirs",
      standard: "none: no TLS",
    },
    {
      get: ({ tls }) => tls?.certificate ?? "",
      set: (group, certificate) => ({
        ...group,
        tls: certificate === "" ? undefined : { peers: [], ...group.tls, certificate },
      }),
    },
  ),
  list(
    {
      name: "peers",
      field: "peers",
      placeholder: "IDENTITY",
      help: "Who servers may be, by the identity in their certificates: spiffe://DOMAIN/PATH, .../* for all below it, ! before who may not; with tls",
      standard: "none",
    },
    {
      get: ({ tls }) => tls?.peers ?? [],
      set: (group, peers) => ({
        ...group,
        tls:
          group.tls === undefined && peers.length === 0
            ? undefined
            : { certificate: "", ...group.tls, peers },
      }),
    },
    A_PEER,
  ),
  ...hintFields<Group>(),
];
