import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import { matchesSelectors } from "./kube-selectors.ts";

export interface KubeObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly resourceVersion?: string;
    readonly deletionTimestamp?: string;
  };
  readonly [field: string]: unknown;
}

/** What goes wrong with the next request that it is for. */
export type Fault =
  | {
      readonly on: "list" | "watch" | "any";
      readonly does: "status";
      readonly status: number;
      /** When to come back, as the header says it. */
      readonly retryAfterSeconds?: number;
    }
  /** Refuses, and never comes to the end of saying why. */
  | { readonly on: "list" | "watch" | "any"; readonly does: "falter"; readonly status: number }
  /** Says nothing, ever. */
  | { readonly on: "list" | "watch" | "any"; readonly does: "hang" }
  /** The body breaks off in the middle: of a page, or of a line. */
  | { readonly on: "list" | "watch"; readonly does: "half" }
  /** Answers with an older state than it should, unless the newest is asked for. */
  | { readonly on: "list"; readonly does: "stale"; readonly by: number }
  | { readonly on: "watch"; readonly does: "end" | "garbage" | "twice" | "bookmark" | "expired" }
  /** Tells again what is older than what was asked for. */
  | { readonly on: "watch"; readonly does: "old"; readonly by: number };

interface Change {
  readonly revision: number;
  /** Undefined where it was not there. */
  readonly before: KubeObject | undefined;
  readonly object: KubeObject;
  readonly isGone: boolean;
}

interface Watcher {
  readonly request: URL;
  readonly response: ServerResponse;
  readonly isTwice: boolean;
}

interface Kind {
  readonly kind: string;
  readonly apiVersion: string;
}

const KIND_OF: ReadonlyMap<string, Kind> = new Map([
  ["/api/v1/services", { kind: "Service", apiVersion: "v1" }],
  ["/api/v1/nodes", { kind: "Node", apiVersion: "v1" }],
  [
    "/apis/discovery.k8s.io/v1/endpointslices",
    { kind: "EndpointSlice", apiVersion: "discovery.k8s.io/v1" },
  ],
]);

const UNAUTHORIZED = 401;
const NOT_FOUND = 404;
const GONE = 410;
const GATEWAY_TIMEOUT = 504;

export interface KubeServerOptions {
  readonly port?: number;
  /** On loopback: `127.0.0.1`, or `::1`. */
  readonly host?: string;
  readonly tls?: ServerOptions;
  /** Whether a request is let in; all are where it is missing. */
  readonly admits?: (request: IncomingMessage) => boolean;
}

/**
 * Lists and watches as an API server of Kubernetes does them: revisions, pages that hold one revision,
 * selectors, bookmarks, versions that are too old. And it misbehaves as it is told.
 */
export class KubeServer {
  readonly #server: Server;
  readonly #admits: (request: IncomingMessage) => boolean;
  readonly #state = new Map<string, Map<string, KubeObject>>();
  readonly #changes: Change[] = [];
  readonly #watchers = new Set<Watcher>();
  #lastList: { readonly id: string; readonly objects: readonly KubeObject[] } = {
    id: "",
    objects: [],
  };
  #revision = 1;
  #oldest = 0;
  /** Each is for one request and then gone. */
  readonly faults: Fault[] = [];
  /** What was asked, in short: `list services 0`, `watch nodes 12`. */
  readonly requests: string[] = [];
  url = "";

  private constructor({ tls, admits }: KubeServerOptions) {
    this.#admits = admits ?? (() => true);
    const answer = (request: IncomingMessage, response: ServerResponse): void =>
      this.#answer(request, response);
    this.#server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer);
  }

  /** On loopback. */
  static async start(options: KubeServerOptions = {}): Promise<KubeServer> {
    const server = new KubeServer(options);
    await new Promise<void>((resolve) => {
      server.#server.listen(options.port ?? 0, options.host ?? "127.0.0.1", resolve);
    });
    const address = server.#server.address();
    if (address === null || typeof address === "string") throw new Error("no port to listen on");
    const scheme = options.tls === undefined ? "http" : "https";
    const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
    server.url = `${scheme}://${host}:${address.port}`;
    return server;
  }

  get revision(): number {
    return this.#revision;
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  put(object: KubeObject): void {
    this.#change(object, false);
  }

  remove(object: KubeObject): void {
    const last = this.#stateOf(object.kind).get(idOf(object));
    if (last !== undefined) this.#change(last, true);
  }

  get(object: KubeObject): KubeObject | undefined {
    return this.#stateOf(object.kind).get(idOf(object));
  }

  objects(kind: string): readonly KubeObject[] {
    return [...this.#stateOf(kind).values()];
  }

  /** From now on nobody can go on from before this moment. */
  compact(): void {
    this.#oldest = this.#revision;
  }

  bookmark(): void {
    for (const watcher of this.#watchers) sendBookmark(watcher, this.#revision);
  }

  /** Breaks off all watches. */
  dropWatches(): void {
    for (const { response } of this.#watchers) response.destroy();
    this.#watchers.clear();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #stateOf(kind: string): Map<string, KubeObject> {
    const state = this.#state.get(kind) ?? new Map<string, KubeObject>();
    this.#state.set(kind, state);
    return state;
  }

  #change(given: KubeObject, isGone: boolean): void {
    this.#revision += 1;
    const state = this.#stateOf(given.kind);
    const id = idOf(given);
    const before = state.get(id);
    const metadata = { ...given.metadata, resourceVersion: String(this.#revision) };
    const object = { ...given, metadata };
    if (isGone) state.delete(id);
    else state.set(id, object);
    const change = { revision: this.#revision, before, object, isGone };
    this.#changes.push(change);
    for (const watcher of this.#watchers) tell(watcher, change);
  }

  #stateAt(revision: number, kind: string): ReadonlyMap<string, KubeObject> {
    if (revision === this.#revision) return this.#stateOf(kind);
    const state = new Map<string, KubeObject>();
    for (const change of this.#changes) {
      if (change.revision > revision) break;
      if (change.object.kind !== kind) continue;
      if (change.isGone) state.delete(idOf(change.object));
      else state.set(idOf(change.object), change.object);
    }
    return state;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "/", "http://kube");
    const kind = KIND_OF.get(url.pathname);
    response.setHeader("content-type", "application/json");
    const verb = url.searchParams.get("watch") === "true" ? "watch" : "list";
    const version = url.searchParams.get("resourceVersion") ?? "";
    this.requests.push(`${verb} ${url.pathname.split("/").at(-1)} ${version}`.trim());
    const fault = this.#takeFault(verb);
    if (!this.#admits(request)) refuse(response, UNAUTHORIZED, "Unauthorized");
    else if (kind === undefined) refuse(response, NOT_FOUND, "NotFound");
    else if (fault?.does === "hang") return;
    else if (fault?.does === "falter") response.writeHead(fault.status).write('{"kind":');
    else if (fault?.does === "status") {
      const { status, retryAfterSeconds } = fault;
      if (retryAfterSeconds !== undefined) response.setHeader("retry-after", retryAfterSeconds);
      refuse(response, status, `Fault${status}`);
    } else if (verb === "list") this.#list(url, response, kind, fault);
    else this.#watch(url, response, kind, fault);
  }

  /** A version that only another server, or this one before it was set back, can have told. */
  #isToCome(url: URL): boolean {
    return Number(url.searchParams.get("resourceVersion") ?? 0) > this.#revision;
  }

  #takeFault(verb: "list" | "watch"): Fault | undefined {
    const at = this.faults.findIndex(({ on }) => on === verb || on === "any");
    return at < 0 ? undefined : this.faults.splice(at, 1)[0];
  }

  #list(url: URL, response: ServerResponse, kind: Kind, fault: Fault | undefined): void {
    const limit = Number(url.searchParams.get("limit") ?? 0);
    const token = url.searchParams.get("continue");
    const [start = 0, revision = 0] = (token ?? `0:${this.#revision}`).split(":").map(Number);
    if (token !== null && revision < this.#oldest) {
      refuse(response, GONE, "Expired");
      return;
    }
    if (this.#isToCome(url)) {
      refuse(response, GATEWAY_TIMEOUT, "Timeout", "Too large resource version");
      return;
    }
    const isLagging = fault?.does === "stale" && url.searchParams.has("resourceVersion");
    const shown = isLagging ? Math.max(1, revision - fault.by) : revision;
    const all = this.#selected(url, shown, kind.kind);
    const items = all.slice(start, limit > 0 ? start + limit : undefined);
    const rest = all.length - start - items.length;
    const body = renderList(kind, items, {
      resourceVersion: String(shown),
      ...(rest > 0 && { continue: `${start + items.length}:${shown}`, remainingItemCount: rest }),
    });
    if (fault?.does === "half") breakOff(response, body);
    else response.end(body);
  }

  /** Those of the last list are kept: its pages follow each other. */
  #selected(
    { pathname, searchParams }: URL,
    revision: number,
    kind: string,
  ): readonly KubeObject[] {
    const { labelSelector, fieldSelector } = Object.fromEntries(searchParams);
    const id = `${pathname} ${revision} ${labelSelector} ${fieldSelector}`;
    if (this.#lastList.id !== id) {
      const all = [...this.#stateAt(revision, kind).values()];
      const objects = all.filter((object) => matchesSelectors(object, searchParams));
      this.#lastList = { id, objects };
    }
    return this.#lastList.objects;
  }

  #watch(url: URL, response: ServerResponse, { kind }: Kind, fault: Fault | undefined): void {
    const version = Number(url.searchParams.get("resourceVersion"));
    const watcher = { request: url, response, isTwice: fault?.does === "twice" };
    const since = fault?.does === "old" ? version - fault.by : version;
    const missed = this.#changes.filter((one) => one.revision > since && one.object.kind === kind);
    if (version < this.#oldest || this.#isToCome(url)) {
      refuse(response, GONE, "Expired");
      return;
    }
    if (fault !== undefined && spoilWatch(watcher, fault, missed[0], version)) return;
    response.flushHeaders();
    if (fault?.does === "old") tellSlowly(watcher, missed);
    else for (const change of missed) tell(watcher, change);
    this.#watchers.add(watcher);
    response.on("close", () => this.#watchers.delete(watcher));
  }
}

/** Whether that was all there is of the watch. */
function spoilWatch(
  watcher: Watcher,
  { does }: Fault,
  first: Change | undefined,
  version: number,
): boolean {
  const { response } = watcher;
  switch (does) {
    case "end":
      response.end();
      return true;
    case "garbage":
      response.end("not json\n");
      return true;
    case "expired": {
      const object = { kind: "Status", code: GONE, reason: "Expired", message: "too old" };
      response.end(`${JSON.stringify({ type: "ERROR", object })}\n`);
      return true;
    }
    case "bookmark":
      sendBookmark(watcher, version);
      response.end();
      return true;
    case "half":
      breakOff(response, JSON.stringify({ type: "ADDED", object: first?.object ?? {} }));
      return true;
    default:
      return false;
  }
}

/** One by one, so that each may be seen by itself. */
function tellSlowly(watcher: Watcher, changes: readonly Change[]): void {
  const [first, ...rest] = changes;
  if (first === undefined) return;
  tell(watcher, first);
  setImmediate(() => setImmediate(() => tellSlowly(watcher, rest)));
}

/** What no longer fits the selectors is deleted to who watches. */
function tell(watcher: Watcher, { before, object, isGone }: Change): void {
  const { request, response, isTwice } = watcher;
  if (KIND_OF.get(request.pathname)?.kind !== object.kind) return;
  const fits = !isGone && matchesSelectors(object, request.searchParams);
  const fitted = before !== undefined && matchesSelectors(before, request.searchParams);
  if (!fits && !fitted) return;
  const line = renderEvent(fits ? (fitted ? "MODIFIED" : "ADDED") : "DELETED", object);
  response.write(isTwice ? `${line}${line}` : line);
}

function sendBookmark({ request, response }: Watcher, revision: number): void {
  const object = {
    ...KIND_OF.get(request.pathname),
    metadata: { resourceVersion: String(revision) },
  };
  response.write(renderEvent("BOOKMARK", object));
}

function renderEvent(type: string, object: object): string {
  return `${JSON.stringify({ type, object })}\n`;
}

/** Entries of a typed list do not say what they are. */
function renderList(kind: Kind, items: readonly KubeObject[], metadata: object): string {
  const bare = items.map(({ kind: _kind, apiVersion: _apiVersion, ...object }) => object);
  return JSON.stringify({
    kind: `${kind.kind}List`,
    apiVersion: kind.apiVersion,
    metadata,
    items: bare,
  });
}

function breakOff(response: ServerResponse, body: string): void {
  response.write(body.slice(0, body.length / 2), () => response.destroy());
}

function refuse(
  response: ServerResponse,
  status: number,
  reason: string,
  message = "as the test wants it",
): void {
  response.statusCode = status;
  response.end(JSON.stringify({ kind: "Status", apiVersion: "v1", code: status, reason, message }));
}

function idOf({ metadata: { namespace = "", name } }: KubeObject): string {
  return `${namespace}/${name}`;
}
