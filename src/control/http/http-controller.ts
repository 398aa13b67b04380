import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { formatListenAddress, type ListenAddress } from "../../core/options/listen-address.ts";
import type { Control } from "../control.ts";
import { isPrivate, listenOn } from "../listening.ts";
import { Places } from "../places.ts";
import { BearerToken } from "./bearer-token.ts";
import { planEndpoints } from "./endpoints.ts";
import { EntityTags } from "./entity-tags.ts";
import { createHealthWatch } from "./health-watch.ts";
import { createLimitedServer, serveWith } from "./limited-server.ts";
import { HTTP_LIMITS, type HttpLimits } from "./limits.ts";
import type { KeepFile } from "./pem-endpoint.ts";
import { RequestHandler } from "./request-handler.ts";
import { Router } from "./router.ts";

export interface HttpControllerOptions {
  readonly address: ListenAddress;
  /** Not given, or empty: whoever is on this machine may give commands, and nobody else. */
  readonly token?: string | undefined;
  readonly control: Control;
  readonly log: Log;
  /** Whether its clients may give system commands. */
  readonly maySystem: boolean;
  readonly limits?: Partial<HttpLimits> | undefined;
  /** Names by which it may be called, beside IP addresses and `localhost`. */
  readonly hosts?: readonly string[] | undefined;
  /** Keeps certificates that are sent as text; without it they can not be sent. */
  readonly keepFile?: KeepFile | undefined;
  /** What `/api/v1/status` tells; without it there is no such path. */
  readonly status?: (() => unknown) | undefined;
}

export interface HttpController {
  /** Where it listens; with the port that was found where 0 was asked for. */
  readonly address: ListenAddress;
  /** How many there are. */
  connections(): number;
  /** Accepts no more; what was asked is answered, within a moment. */
  close(): Promise<void>;
}

interface HttpVisitor {
  isTrusted: boolean;
}

/**
 * Listens for HTTP and gives what is asked to `control`.
 * @throws CoreError ERR_REFUSED without a token on an address that others can reach, ERR_LISTEN
 */
export async function startHttpController(options: HttpControllerOptions): Promise<HttpController> {
  const { address, control, log } = options;
  const limits: HttpLimits = { ...HTTP_LIMITS, ...options.limits };
  const secret = options.token === "" ? undefined : options.token;
  if (secret === undefined) refuseOpenAddress(address);
  const { maxConnections: max } = limits;
  const places = new Places<HttpVisitor>({
    max,
    onFull: () => log.warn({ maxConnections: max }, "HTTP: no more connections"),
  });
  const watch = createHealthWatch(control, limits);
  const handler = new RequestHandler({
    router: new Router(planEndpoints({ ...options, watch })),
    control,
    tags: new EntityTags(),
    token: secret === undefined ? undefined : new BearerToken(secret),
    onTrusted: (socket) => {
      const visitor = places.get(socket);
      if (visitor !== undefined) visitor.isTrusted = true;
    },
    hosts: hostsOf(options),
    maySystem: options.maySystem,
    limits,
    log,
  });
  const server = createLimitedServer(limits);
  server.on("connection", (socket) => {
    if (!places.give(socket, () => ({ isTrusted: secret === undefined }))) socket.destroy();
  });
  serveWith(server, (request, response) => void handler.handle(request, response));
  const bound = await listenOn(server, address, { protocol: "HTTP", option: "--http-listen" });
  server.on("error", (error) => log.error({ err: error }, "HTTP"));
  if (secret === undefined) {
    log.warn(
      { address: formatListenAddress(bound) },
      "the HTTP controller has no token: it answers on this machine only, and every user of it may give commands; set PORTOLAN_HTTP_TOKEN",
    );
  }
  return {
    address: bound,
    connections: () => places.size,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      handler.endConnections();
      watch.close();
      server.closeIdleConnections();
      const end = setTimeout(() => server.closeAllConnections(), limits.closeGraceMs);
      await closed;
      clearTimeout(end);
    },
  };
}

/** No page can reach a unix socket, whatever it is called by. */
function hostsOf({ address, hosts = [] }: HttpControllerOptions): ReadonlySet<string> | undefined {
  if (address.kind === "unix") return undefined;
  return new Set([address.host, ...hosts].map((name) => name.toLowerCase()));
}

function refuseOpenAddress(address: ListenAddress): void {
  if (isPrivate(address)) return;
  throw new CoreError(
    "ERR_REFUSED",
    `the HTTP controller on ${formatListenAddress(address)} has no token, and others could reach it; set PORTOLAN_HTTP_TOKEN or --http-token-file, or listen on 127.0.0.1`,
  );
}
