import { readSocks5Address } from "./socks5-address.ts";
import { renderSocks5Reply } from "./socks5-reply.ts";
import {
  AUTH_VERSION,
  COMMANDS,
  METHOD_NONE,
  METHOD_PASSWORD,
  METHOD_UNACCEPTABLE,
  SOCKS_VERSION,
  type Socks5Address,
  type Socks5Command,
} from "./socks5-words.ts";

export type Socks5Event =
  | { readonly kind: "send"; readonly bytes: Buffer }
  /** The handshake is over: connect, and answer with `renderSocks5Reply`. */
  | {
      readonly kind: "request";
      readonly command: Exclude<Socks5Command, "bind">;
      readonly address: Socks5Address;
      /** The authenticated user; empty where nobody had to say who it is. */
      readonly user: string;
      /** What the client has sent already for the other side: a view. */
      readonly rest: Buffer;
    }
  /** The handshake has failed: close once all before it is sent. */
  | { readonly kind: "failed"; readonly reason: string };

export interface Socks5HandshakeOptions {
  /** Says whether the password is right. Not given: everyone may come. */
  readonly authenticate?: (user: string, password: string) => boolean;
}

type State = "greeting" | "password" | "request" | "done";

/** How far a state got: the end of what it read, or `MORE`. */
const MORE = -1;
const REQUEST_HEAD_BYTES = 3;
const NO_BYTES = Buffer.alloc(0);

/** The server's side of a SOCKS5 handshake, up to the request. Not to be fed after its end. */
export class Socks5Handshake {
  readonly #authenticate: Socks5HandshakeOptions["authenticate"];
  #state: State = "greeting";
  #pending: Buffer = NO_BYTES;
  #user = "";

  constructor({ authenticate }: Socks5HandshakeOptions = {}) {
    this.#authenticate = authenticate;
  }

  get isDone(): boolean {
    return this.#state === "done";
  }

  feed(chunk: Buffer): readonly Socks5Event[] {
    const events: Socks5Event[] = [];
    let bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    while (this.#state !== "done") {
      const end = this.#step(bytes, events);
      if (end === MORE) break;
      bytes = bytes.subarray(end);
    }
    this.#pending = bytes;
    return events;
  }

  #step(bytes: Buffer, events: Socks5Event[]): number {
    switch (this.#state) {
      case "greeting":
        return this.#readGreeting(bytes, events);
      case "password":
        return this.#readPassword(bytes, events);
      case "request":
        return this.#readRequest(bytes, events);
      case "done":
        return MORE;
    }
  }

  /** Version, number of methods, methods. */
  #readGreeting(bytes: Buffer, events: Socks5Event[]): number {
    const [version, count] = bytes;
    if (version === undefined) return MORE;
    if (version !== SOCKS_VERSION) return this.#fail(events, `version ${version}; expected 5`);
    const end = 2 + (count ?? 0);
    if (count === undefined || bytes.length < end) return MORE;
    const wanted = this.#authenticate === undefined ? METHOD_NONE : METHOD_PASSWORD;
    if (!bytes.subarray(2, end).includes(wanted)) {
      events.push(send(SOCKS_VERSION, METHOD_UNACCEPTABLE));
      return this.#fail(events, `no authentication method that is offered here (${wanted})`);
    }
    events.push(send(SOCKS_VERSION, wanted));
    this.#state = wanted === METHOD_NONE ? "request" : "password";
    return end;
  }

  /** Version, length and user, length and password (RFC 1929). */
  #readPassword(bytes: Buffer, events: Socks5Event[]): number {
    const [version, userLength] = bytes;
    if (version === undefined) return MORE;
    if (version !== AUTH_VERSION) {
      return this.#fail(events, `version ${version} of the password message; expected 1`);
    }
    const userEnd = 2 + (userLength ?? 0);
    const passwordLength = bytes[userEnd];
    if (userLength === undefined || passwordLength === undefined) return MORE;
    const end = userEnd + 1 + passwordLength;
    if (bytes.length < end) return MORE;
    const user = bytes.toString("utf8", 2, userEnd);
    const password = bytes.toString("utf8", userEnd + 1, end);
    const isRight = this.#authenticate?.(user, password) ?? false;
    events.push(send(AUTH_VERSION, isRight ? 0 : 1));
    if (!isRight) return this.#fail(events, "wrong user or password");
    this.#user = user;
    this.#state = "request";
    return end;
  }

  /** Version, command, 0, address. */
  #readRequest(bytes: Buffer, events: Socks5Event[]): number {
    const [version, command, reserved] = bytes;
    if (version !== undefined && version !== SOCKS_VERSION) {
      return this.#refuse(events, "general-failure", `version ${version}; expected 5`);
    }
    if (command === undefined || reserved === undefined) return MORE;
    const word = isCommand(command) ? COMMANDS[command] : undefined;
    if (word === undefined || word === "bind") {
      return this.#refuse(events, "command-not-supported", `command ${command} is not supported`);
    }
    const outcome = readSocks5Address(bytes, REQUEST_HEAD_BYTES);
    switch (outcome.kind) {
      case "more":
        return MORE;
      case "unsupported":
      case "malformed":
        return this.#refuse(events, "address-not-supported", `the address is ${outcome.kind}`);
      case "address": {
        const { address, end } = outcome;
        this.#state = "done";
        const rest = bytes.subarray(end);
        events.push({ kind: "request", command: word, address, user: this.#user, rest });
        return bytes.length;
      }
    }
  }

  #refuse(
    events: Socks5Event[],
    word: "general-failure" | "command-not-supported" | "address-not-supported",
    reason: string,
  ): number {
    events.push({ kind: "send", bytes: renderSocks5Reply(word) });
    return this.#fail(events, reason);
  }

  #fail(events: Socks5Event[], reason: string): number {
    this.#state = "done";
    events.push({ kind: "failed", reason: `SOCKS5: ${reason}` });
    return 0;
  }
}

function send(...bytes: number[]): Socks5Event {
  return { kind: "send", bytes: Buffer.from(bytes) };
}

function isCommand(byte: number): byte is keyof typeof COMMANDS {
  return byte in COMMANDS;
}
