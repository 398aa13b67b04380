import { chmod } from "node:fs/promises";
import { createServer, isIP, type Server, type Socket } from "node:net";
import { removeStaleSocket } from "../../brain/unix-socket.ts";
import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { formatHostPort, isLoopback } from "../../core/model/address.ts";
import { formatListenAddress, type ListenAddress } from "../../core/options/listen-address.ts";
import { encodeReply } from "../../wire/resp/encode-reply.ts";
import type { Caller } from "../command.ts";
import type { Control } from "../control.ts";
import { AuthGate } from "./auth-gate.ts";
import { Password } from "./password.ts";
import { refusal } from "./render-reply.ts";
import { RespConnection } from "./resp-connection.ts";
import { DEFAULT_LIMITS, type RespControllerLimits } from "./resp-limits.ts";
import type { RespSession } from "./session-commands.ts";

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

const OWNER_ONLY = 0o600;
const KEEP_ALIVE_MS = 60_000;
const TURNED_AWAY_MS = 1000;
const MAPPED_V4 = /^::ffff:(?=\d+\.)/i;
/** A command that waits for its own controller to be removed is answered after this. */
const CLOSE_GRACE_MS = 500;

/**
 * Listens for clients that speak RESP, as `redis-cli` does, and gives their commands to `control`.
 * @throws CoreError ERR_REFUSED without a password on an address that others can reach, ERR_LISTEN
 */
export async function startRespController(options: RespControllerOptions): Promise<RespController> {
  const { address, log } = options;
  const password = options.password === "" ? undefined : options.password;
  if (password === undefined) refuseOpenAddress(address);
  const doorkeeper = new Doorkeeper(options, password);
  const server = createServer({
    // Who has no more to ask still wants its answers.
    allowHalfOpen: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
  });
  server.on("connection", (socket) => doorkeeper.admit(socket));
  await listen(server, address);
  server.on("error", (error) => log.error({ err: error }, "RESP"));
  const bound = boundAddress(server, address);
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

/** Lets clients in, as many as there may be. */
class Doorkeeper {
  readonly #options: RespControllerOptions;
  readonly #limits: RespControllerLimits;
  readonly #gate: AuthGate | undefined;
  readonly #connections = new Map<Socket, RespConnection>();
  #lastId = 0;
  #isFull = false;

  constructor(options: RespControllerOptions, password: string | undefined) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#gate =
      password === undefined ? undefined : new AuthGate(new Password(password), this.#limits);
  }

  get connections(): number {
    return this.#connections.size;
  }

  admit(socket: Socket): void {
    // What goes wrong with a client ends its connection, and is nobody else's trouble.
    socket.on("error", () => undefined);
    if (this.#connections.size >= this.#limits.maxConnections && !this.#makeRoom()) {
      this.#turnAway(socket);
      return;
    }
    const { control, log, maySystem } = this.#options;
    const remote = (socket.remoteAddress ?? "unix").replace(MAPPED_V4, "");
    const from =
      socket.remotePort === undefined ? remote : formatHostPort(remote, socket.remotePort);
    const caller: Caller = { via: "resp", from, maySystem };
    this.#connections.set(
      socket,
      new RespConnection({
        socket,
        session: this.#createSession(remote, caller),
        control,
        caller,
        log,
        limits: this.#limits,
        bufferedBytes: () => this.#bufferedBytes(),
      }),
    );
    socket.on("close", () => {
      this.#connections.delete(socket);
      if (this.#connections.size <= this.#limits.maxConnections / 2) this.#isFull = false;
    });
  }

  endAll(): void {
    for (const connection of this.#connections.values()) connection.end();
  }

  #createSession(remote: string, caller: Caller): RespSession {
    const { control, log } = this.#options;
    const gate = this.#gate;
    this.#lastId += 1;
    return {
      id: this.#lastId,
      version: 2,
      isTrusted: gate === undefined,
      name: "",
      isOver: false,
      authenticate:
        gate &&
        (async (password) => {
          const outcome = await gate.try(remote, password);
          if (outcome === "wrong")
            log.warn({ from: caller.from }, "RESP: a wrong password was given");
          return outcome;
        }),
      programVersion: async () => {
        const result = await control.run({ kind: "system", verb: "version", args: [] }, caller);
        const text = result.kind === "text" ? result.text : "";
        return /\d+\.\d+\.\d+\S*/.exec(text)?.[0] ?? text;
      },
    };
  }

  /** Whoever has not given the password yet takes no place from those who may have it; the oldest goes. */
  #makeRoom(): boolean {
    for (const [socket, connection] of this.#connections) {
      if (connection.isTrusted) continue;
      socket.destroy();
      this.#connections.delete(socket);
      return true;
    }
    return false;
  }

  #turnAway(socket: Socket): void {
    const { maxConnections } = this.#limits;
    const message = `there are ${maxConnections} connections already; close some, or try later`;
    // What it has sent must be read, or the answer is lost with the connection.
    socket.resume();
    socket.setTimeout(TURNED_AWAY_MS, () => socket.destroy());
    socket.end(encodeReply(refusal("ERR_REFUSED", message), 2));
    // Said once, until there is room for many.
    if (!this.#isFull) this.#options.log.warn({ maxConnections }, "RESP: no more connections");
    this.#isFull = true;
  }

  #bufferedBytes(): number {
    let sum = 0;
    for (const socket of this.#connections.keys()) sum += socket.writableLength;
    return sum;
  }
}

function refuseOpenAddress(address: ListenAddress): void {
  if (address.kind === "unix") return;
  const { host } = address;
  if (host === "localhost" || (isIP(host) !== 0 && isLoopback(host))) return;
  throw new CoreError(
    "ERR_REFUSED",
    `the RESP controller on ${formatListenAddress(address)} has no password, and others could reach it; give it one (PORTOLAN_RESP_PASSWORD, --resp-password-file, or password-file where a command adds it), or listen on 127.0.0.1`,
  );
}

async function listen(server: Server, address: ListenAddress): Promise<void> {
  if (address.kind === "unix") await removeStaleSocket(address.path);
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: Error): void => {
      const message = `can not listen on ${formatListenAddress(address)} for RESP: ${cause.message}; choose another address with --resp-listen`;
      reject(new CoreError("ERR_LISTEN", message, { cause }));
    };
    server.once("error", fail);
    const listening = (): void => {
      server.off("error", fail);
      resolve();
    };
    if (address.kind === "unix") server.listen(address.path, listening);
    else server.listen(address.port, address.host, listening);
  });
  if (address.kind === "unix") await chmod(address.path, OWNER_ONLY);
}

function boundAddress(server: Server, address: ListenAddress): ListenAddress {
  const bound = server.address();
  if (address.kind === "unix" || bound === null || typeof bound === "string") return address;
  return { ...address, port: bound.port };
}

async function settledWithin(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, patience]);
  clearTimeout(timer);
}
