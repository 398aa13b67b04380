import { createServer } from "node:net";
import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { formatListenAddress, type ListenAddress } from "../../core/options/listen-address.ts";
import type { Control } from "../control.ts";
import { isPrivate, listenOn } from "../listening.ts";
import { Doorkeeper } from "./doorkeeper.ts";
import { DEFAULT_LIMITS, type RespControllerLimits } from "./resp-limits.ts";

export interface RespControllerOptions {
  readonly address: ListenAddress;
  /** Not given, or empty: whoever is on this machine may give commands, and nobody else. */
  readonly password?: string | undefined;
  readonly control: Control;
  readonly log: Log;
  /** Whether its clients may give system commands. */
  readonly maySystem: boolean;
  readonly limits?: Partial<RespControllerLimits>;
}

export interface RespController {
  /** Where it listens; with the port that was found where 0 was asked for. */
  readonly address: ListenAddress;
  /** How many there are. */
  connections(): number;
  /** Accepts no more; what was asked is answered, within a moment. */
  close(): Promise<void>;
}

const KEEP_ALIVE_MS = 60_000;
/** A command that waits for its own controller to be removed is answered after this. */
const CLOSE_GRACE_MS = 500;

/**
 * Listens for clients that speak RESP, as `redis-cli` does, and gives their commands to `control`.
 * @throws CoreError ERR_REFUSED without a password on an address that others can reach, ERR_LISTEN
 */
export async function startRespController(options: RespControllerOptions): Promise<RespController> {
  const { address, control, log, maySystem } = options;
  const password = options.password === "" ? undefined : options.password;
  if (password === undefined) refuseOpenAddress(address);
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const doorkeeper = new Doorkeeper({ password, control, log, maySystem, limits });
  const server = createServer({
    // Who has no more to ask still wants its answers.
    allowHalfOpen: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
  });
  server.on("connection", (socket) => doorkeeper.admit(socket));
  const bound = await listenOn(server, address, { protocol: "RESP", option: "--resp-listen" });
  server.on("error", (error) => log.error({ err: error }, "RESP"));
  const where = formatListenAddress(bound);
  if (password === undefined) {
    log.warn(
      { address: where },
      "the RESP controller has no password: every user of this machine may give commands; set PORTOLAN_RESP_PASSWORD",
    );
  }
  return {
    address: bound,
    connections: () => doorkeeper.connections,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      doorkeeper.endAll();
      await settledWithin(closed, CLOSE_GRACE_MS);
    },
  };
}

function refuseOpenAddress(address: ListenAddress): void {
  if (isPrivate(address)) return;
  throw new CoreError(
    "ERR_REFUSED",
    `the RESP controller on ${formatListenAddress(address)} has no password, and others could reach it; give it one (PORTOLAN_RESP_PASSWORD, --resp-password-file, or password-file where a command adds it), or listen on 127.0.0.1`,
  );
}

async function settledWithin(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, patience]);
  clearTimeout(timer);
}
