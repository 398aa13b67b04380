import {
  Socks5Handshake,
  type Socks5HandshakeOptions,
} from "../../wire/socks5/socks5-handshake.ts";
import { HANDSHAKE_PATIENCE_MS, type Opening, type OpeningStep } from "./opening.ts";

/** A SOCKS5 handshake up to its request, which is answered once what it asks for stands. */
export class Socks5Opening implements Opening {
  readonly patienceMs: number = HANDSHAKE_PATIENCE_MS;
  readonly #handshake: Socks5Handshake;

  constructor(options: Socks5HandshakeOptions = {}) {
    this.#handshake = new Socks5Handshake(options);
  }

  feed(chunk: Buffer): OpeningStep {
    const said: Buffer[] = [];
    for (const event of this.#handshake.feed(chunk)) {
      switch (event.kind) {
        case "send":
          said.push(event.bytes);
          break;
        case "failed":
          return { kind: "refused", reason: event.reason, say: Buffer.concat(said) };
        case "request":
          return {
            kind: "done",
            introduction: { wanted: event.address, command: event.command },
            rest: event.rest,
            say: Buffer.concat(said),
          };
      }
    }
    return { kind: "more", say: Buffer.concat(said) };
  }

  giveUp(): OpeningStep {
    return { kind: "refused", reason: "the SOCKS5 handshake did not come to its end" };
  }
}
