import { formatHostPort } from "../../core/model/address.ts";
import type { BalancedServers, TakenServer } from "./balanced-servers.ts";

/** What an `undici` dispatcher is told of a request, as far as it matters here. */
export interface DispatchOptions {
  readonly origin?: string | URL | undefined;
  readonly headers?: unknown;
}

/**
 * For `compose` of an `undici` dispatcher. `undici` is no dependency: whatever it says of requests and their
 * handlers is passed on.
 */
export type UndiciInterceptor = <O extends DispatchOptions, H extends object>(
  dispatch: (options: O, handler: H) => boolean,
) => (options: O, handler: H) => boolean;

/** Those that say that a request never came to its server. */
const NOT_CONNECTED = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/**
 * Sends each request to the server whose turn it is, whatever host its URL names; servers are told that
 * host, and TLS is made for it.
 */
export function undiciInterceptor(servers: BalancedServers): UndiciInterceptor {
  return (dispatch) => (options, handler) => {
    const asked = new URL(String(options.origin));
    const taken = servers.take();
    const origin = `${asked.protocol}//${formatHostPort(taken.host, taken.port)}`;
    const headers = withHost(options.headers, asked.host);
    try {
      return dispatch({ ...options, origin, headers }, counted(handler, taken));
    } catch (error) {
      taken.done();
      throw error;
    }
  };
}

/** The same handler, but that the end of the request is noticed. */
function counted<H extends object>(handler: H, taken: TakenServer): H {
  return new Proxy(handler, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...args: readonly unknown[]) => {
        noteEnd(name, args, taken);
        return Reflect.apply(method, target, args);
      };
    },
  });
}

/** The callbacks of `undici` 7 and later. */
function noteEnd(
  callback: string | symbol,
  [, error]: readonly unknown[],
  taken: TakenServer,
): void {
  if (callback === "onResponseError") taken.done(isUnreached(error) ? error : undefined);
  else if (callback === "onResponseEnd" || callback === "onRequestUpgrade") taken.done();
}

function isUnreached(error: unknown): boolean {
  return error instanceof Error && "code" in error && NOT_CONNECTED.has(String(error.code));
}

/** `undici` takes names and values in turn, pairs, or an object. */
function withHost(headers: unknown, host: string): unknown {
  if (Array.isArray(headers)) {
    const names = headers.filter((_, index) => index % 2 === 0);
    return names.some(isHost) ? headers : [...headers, "host", host];
  }
  if (isIterable(headers)) return withHost([...headers].flat(), host);
  const named = { ...(typeof headers === "object" ? headers : {}) };
  return Object.keys(named).some(isHost) ? named : { ...named, host };
}

function isHost(name: unknown): boolean {
  return String(name).toLowerCase() === "host";
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
}
