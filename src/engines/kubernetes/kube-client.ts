import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { isIP } from "node:net";
import { CoreError, messageOf } from "../../core/errors.ts";
import { type Credentials, readPem } from "./credentials.ts";
import type { KubeConnection } from "./kube-connection.ts";
import { type Refusal, readRefusal } from "./read-refusal.ts";

export type Query = Readonly<Record<string, string | undefined>>;

export type KubeAnswer =
  | { readonly kind: "ok"; readonly body: IncomingMessage }
  | (Refusal & { readonly kind: "refused" });

export interface KubeClientOptions {
  /** How long a server may take to begin an answer. */
  readonly answerTimeoutMs?: number;
  /** What the server calls this program in its logs. */
  readonly userAgent?: string;
  /** Told of each request: `list services`, how long it took until an answer began, whether that was good. */
  readonly onRequest?: (request: string, seconds: number, isOk: boolean) => void;
}

const DEFAULTS = {
  answerTimeoutMs: 30_000,
  userAgent: "portolan",
  onRequest: () => undefined,
} as const;
const MS_PER_SECOND = 1000;
const KEEP_ALIVE_PROBE_MS = 30_000;
const OK = 200;
const UNAUTHORIZED = 401;
const SERVER_FAULT = 500;

/**
 * Asks an API server of Kubernetes. Where one can not be reached the next one is asked; one that
 * answers with a fault of its own is the last to be asked again.
 */
export class KubeClient {
  readonly #connection: KubeConnection;
  readonly #options: Required<KubeClientOptions>;
  readonly #agents = {
    http: new HttpAgent({ keepAlive: true, keepAliveMsecs: KEEP_ALIVE_PROBE_MS }),
    https: new HttpsAgent({ keepAlive: true, keepAliveMsecs: KEEP_ALIVE_PROBE_MS }),
  };
  #current = 0;

  constructor(connection: KubeConnection, options: KubeClientOptions = {}) {
    this.#connection = connection;
    this.#options = { ...DEFAULTS, ...options };
  }

  /** For people: which server is asked next. */
  get server(): string {
    return this.#serverAt(this.#current).origin;
  }

  /**
   * @returns the answer with its body unread, or why the server gave none
   * @throws CoreError ERR_API_UNREACHABLE where no server can be reached, ERR_CONFIG_INVALID where
   *   credentials can not be had, ERR_ABORTED
   */
  async get(path: string, query: Query, signal: AbortSignal): Promise<KubeAnswer> {
    const answer = await this.#ask(path, query, signal);
    if (answer.kind !== "refused" || answer.status !== UNAUTHORIZED) return answer;
    this.#connection.credentials.refused();
    return this.#ask(path, query, signal);
  }

  close(): void {
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }

  async #ask(path: string, query: Query, signal: AbortSignal): Promise<KubeAnswer> {
    const credentials = await this.#connection.credentials.read();
    const first = this.#current;
    let failure: unknown;
    for (let tried = 0; tried < this.#connection.servers.length; tried += 1) {
      const index = (first + tried) % this.#connection.servers.length;
      const server = this.#serverAt(index);
      const startMs = performance.now();
      const tell = (isOk: boolean): void => {
        const seconds = (performance.now() - startMs) / MS_PER_SECOND;
        this.#options.onRequest(nameOf(path, query), seconds, isOk);
      };
      try {
        const response = await this.#request(urlOf(server, path, query), credentials, signal);
        tell(response.statusCode === OK);
        if (response.statusCode === OK) return { kind: "ok", body: response };
        if ((response.statusCode ?? 0) >= SERVER_FAULT) this.#leave(index);
        const { answerTimeoutMs } = this.#options;
        return { kind: "refused", ...(await readRefusal(response, answerTimeoutMs, signal)) };
      } catch (error) {
        if (signal.aborted) throw aborted(error);
        tell(false);
        failure = unreachable(server, error);
        this.#leave(index);
      }
    }
    throw failure;
  }

  #serverAt(index: number): URL {
    const server = this.#connection.servers[index];
    if (server === undefined) throw new CoreError("ERR_CONFIG_INVALID", "no API server is named");
    return server;
  }

  /** Others may have left it already. */
  #leave(index: number): void {
    if (this.#current === index) this.#current = (index + 1) % this.#connection.servers.length;
  }

  async #request(
    url: URL,
    credentials: Credentials,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const { answerTimeoutMs, userAgent } = this.#options;
    const { authorization, cert, key } = credentials;
    const headers = {
      accept: "application/json",
      "user-agent": userAgent,
      ...(authorization !== undefined && { authorization }),
    };
    const isPlain = url.protocol === "http:";
    const tls = isPlain ? {} : await this.#tlsOf(url);
    return new Promise((resolve, reject) => {
      const call = isPlain
        ? requestHttp(url, { agent: this.#agents.http, headers, signal })
        : requestHttps(url, {
            agent: this.#agents.https,
            headers,
            signal,
            ...tls,
            ...(cert !== undefined && key !== undefined && { cert, key }),
          });
      const timer = setTimeout(
        () => call.destroy(new Error(`no answer within ${answerTimeoutMs} ms`)),
        answerTimeoutMs,
      );
      call.on("error", reject);
      call.on("close", () => clearTimeout(timer));
      call.once("response", (response) => {
        clearTimeout(timer);
        resolve(response);
      });
      call.end();
    });
  }

  async #tlsOf(url: URL): Promise<object> {
    const { ca, serverName, isInsecure } = this.#connection;
    const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
    return {
      minVersion: "TLSv1.2",
      rejectUnauthorized: !isInsecure,
      ...(ca !== undefined && { ca: await readPem(ca) }),
      // An address is not a name that could be asked for; it is checked as the host all the same.
      ...(serverName !== undefined
        ? { servername: serverName }
        : isIP(host) === 0
          ? { servername: host }
          : {}),
    };
  }
}

/** `list services`, `watch nodes`. */
function nameOf(path: string, query: Query): string {
  const verb = query["watch"] === undefined ? "list" : "watch";
  return `${verb} ${path.slice(path.lastIndexOf("/") + 1)}`;
}

function urlOf(server: URL, path: string, query: Query): URL {
  const url = new URL(server);
  url.pathname = `${server.pathname.replace(/\/$/, "")}${path}`;
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  return url;
}

function aborted(cause: unknown): CoreError {
  return new CoreError("ERR_ABORTED", "the request was ended", { cause });
}

function unreachable(server: URL, cause: unknown): CoreError {
  const reason = messageOf(cause);
  return new CoreError(
    "ERR_API_UNREACHABLE",
    `the Kubernetes API at ${server.origin} can not be reached: ${reason}`,
    { cause },
  );
}
