import type { Socket } from "node:net";
import type { Log } from "../../core/log.ts";
import { formatHostPort } from "../../core/model/address.ts";
import { encodeReply } from "../../wire/resp/encode-reply.ts";
import type { Caller } from "../command.ts";
import type { Control } from "../control.ts";
import { Password } from "../password.ts";
import { Places } from "../places.ts";
import { AuthGate } from "./auth-gate.ts";
import { refusal } from "./render-reply.ts";
import { RespConnection } from "./resp-connection.ts";
import type { RespControllerLimits } from "./resp-limits.ts";
import type { RespSession } from "./session-commands.ts";

export interface DoorkeeperOptions {
  /** Undefined: everyone may come. */
  readonly password: string | undefined;
  readonly control: Control;
  readonly log: Log;
  readonly maySystem: boolean;
  readonly limits: RespControllerLimits;
}

const TURNED_AWAY_MS = 1000;
const MAPPED_V4 = /^::ffff:(?=\d+\.)/i;

/** Lets clients in, as many as there may be. */
export class Doorkeeper {
  readonly #options: DoorkeeperOptions;
  readonly #limits: RespControllerLimits;
  readonly #gate: AuthGate | undefined;
  readonly #places: Places<RespConnection>;
  #lastId = 0;
  #version: string | undefined;

  constructor(options: DoorkeeperOptions) {
    this.#options = options;
    const { password, limits } = options;
    this.#limits = limits;
    this.#gate = password === undefined ? undefined : new AuthGate(new Password(password), limits);
    const { maxConnections: max } = limits;
    this.#places = new Places({
      max,
      onFull: () => options.log.warn({ maxConnections: max }, "RESP: no more connections"),
    });
  }

  get connections(): number {
    return this.#places.size;
  }

  admit(socket: Socket): void {
    // What goes wrong with a client ends its connection, and is nobody else's trouble.
    socket.on("error", () => undefined);
    if (!this.#places.give(socket, () => this.#connect(socket))) this.#turnAway(socket);
  }

  endAll(): void {
    for (const connection of this.#places.visitors()) connection.end();
  }

  #connect(socket: Socket): RespConnection {
    const { control, log, maySystem } = this.#options;
    const remote = (socket.remoteAddress ?? "unix").replace(MAPPED_V4, "");
    const from =
      socket.remotePort === undefined ? remote : formatHostPort(remote, socket.remotePort);
    const caller: Caller = { via: "resp", from, maySystem };
    return new RespConnection({
      socket,
      session: this.#createSession(remote, caller),
      control,
      caller,
      log,
      limits: this.#limits,
      bufferedBytes: () => this.#bufferedBytes(),
    });
  }

  #createSession(remote: string, caller: Caller): RespSession {
    const { log } = this.#options;
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
      programVersion: () => this.#programVersion(caller),
    };
  }

  /** Asked for once: a client that greets must not wait for a command that takes its time. */
  async #programVersion(caller: Caller): Promise<string> {
    if (this.#version !== undefined) return this.#version;
    const { control } = this.#options;
    const result = await control.run({ kind: "system", verb: "version", args: [] }, caller);
    const text = result.kind === "text" ? result.text : "";
    this.#version = /\d+\.\d+\.\d+\S*/.exec(text)?.[0] ?? text;
    return this.#version;
  }

  #turnAway(socket: Socket): void {
    const { maxConnections } = this.#limits;
    const message = `there are ${maxConnections} connections already; close some, or try later`;
    // What it has sent must be read, or the answer is lost with the connection.
    socket.resume();
    socket.setTimeout(TURNED_AWAY_MS, () => socket.destroy());
    socket.end(encodeReply(refusal("ERR_REFUSED", message), 2));
  }

  #bufferedBytes(): number {
    let sum = 0;
    for (const socket of this.#places.sockets()) sum += socket.writableLength;
    return sum;
  }
}
