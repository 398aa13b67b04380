import { Socks5Handshake } from "../../wire/socks5/socks5-handshake.ts";
import { renderSocks5Reply } from "../../wire/socks5/socks5-reply.ts";
import { HANDSHAKE_PATIENCE_MS, type Opening, type OpeningStep } from "./opening.ts";

/** A SOCKS5 handshake up to its request, which is answered once the connection stands. */
export class Socks5Opening implements Opening {
  readonly patienceMs: number = HANDSHAKE_PATIENCE_MS;
  readonly #handshake = new Socks5Handshake();

  feed(chunk: Buffer): OpeningStep {
    const said: Buffer[] = [];
    for (const event of this.#handshake.feed(chunk)) {
      switch (event.kind) {
        case "send":
          said.push(event.bytes);
          break;
        case "failed":
          return { kind: "refused", reason: event.reason, say: Buffer.concat(said) };
        case "request": {
          if (event.command !== "connect") {
            said.push(renderSocks5Reply("command-not-supported"));
            const reason = `SOCKS5: ${event.command} is not available in this version`;
            return { kind: "refused", reason, say: Buffer.concat(said) };
          }
          return {
            kind: "done",
            introduction: { wanted: event.address },
            rest: event.rest,
            say: Buffer.concat(said),
          };
        }
      }
    }
    return { kind: "more", say: Buffer.concat(said) };
  }

  giveUp(): OpeningStep {
    return { kind: "refused", reason: "the SOCKS5 handshake did not come to its end" };
  }
}
