import type { RouteHints } from "../model/route-hints.ts";
import type { RequestHint } from "./packet.ts";

const HOST_EXACT = 3;
const HOST_SUBDOMAIN = 2;
const HOST_ANY = 1;

/** How well a group suits a request: compare field by field, in this order. */
export interface HintScore {
  /** 3 the very host, 2 a sub-domain of `*.example`, 1 `*`, 0 not said. */
  readonly host: number;
  /** Segments of the path that match, and one for saying a path at all; 0 not said. */
  readonly path: number;
  /** 1 the very port, 0 not said. */
  readonly port: number;
}

/**
 * The score of a group's hints for a request, or undefined where they do not suit it. What either
 * side does not say does not count; what both say must match; something must have been said by both.
 */
export function scoreHints(hints: RouteHints, request: RequestHint): HintScore | undefined {
  const asked = readRequest(request);
  const host = both(hints.host, asked.host, scoreHost);
  const path = both(hints.path, asked.path, scorePath);
  const port = both(hints.port, asked.port, (own, wanted) => (own === wanted ? 1 : undefined));
  if (host === undefined || path === undefined || port === undefined) return undefined;
  return host + path + port === 0 ? undefined : { host, path, port };
}

export function isBetterScore(score: HintScore, than: HintScore): boolean {
  if (score.host !== than.host) return score.host > than.host;
  if (score.path !== than.path) return score.path > than.path;
  return score.port > than.port;
}

/** 0 where one side says nothing. */
function both<T extends string | number>(
  own: T,
  asked: T,
  score: (own: T, asked: T) => number | undefined,
): number | undefined {
  return isSaid(own) && isSaid(asked) ? score(own, asked) : 0;
}

function isSaid(value: string | number): boolean {
  return value !== "" && value !== 0;
}

function scoreHost(own: string, asked: string): number | undefined {
  const pattern = own.toLowerCase();
  if (pattern === "*") return HOST_ANY;
  if (pattern.startsWith("*.")) {
    return asked.endsWith(pattern.slice(1)) ? HOST_SUBDOMAIN : undefined;
  }
  return pattern === asked ? HOST_EXACT : undefined;
}

/** By whole segments: `/a` is a prefix of `/a/b`, not of `/ab`. */
function scorePath(own: string, asked: string): number | undefined {
  const prefix = segmentsOf(own);
  const path = segmentsOf(asked);
  return prefix.every((segment, index) => segment === path[index]) ? prefix.length + 1 : undefined;
}

function segmentsOf(path: string): readonly string[] {
  return path.split("/").filter((segment) => segment !== "");
}

/** `a.example:80`, `[fd00::1]:80`; anything else is a host as it stands. */
const HOST_AND_PORT = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/;

function readRequest({ host = "", path = "", port }: RequestHint): RouteHints {
  const [, name = host, digits = "0"] = HOST_AND_PORT.exec(host) ?? [];
  return {
    host: name.toLowerCase().replace(/\.$/, ""),
    path: path.replace(/[?#].*$/s, ""),
    port: port ?? Number(digits),
  };
}
