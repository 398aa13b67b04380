import { parseProxyHeader } from "../../wire/proxy-protocol/parse-proxy-header.ts";
import { HANDSHAKE_PATIENCE_MS, MORE, type Opening, type OpeningStep } from "./opening.ts";

/** Expects a PROXY header: a trusted proxy that sends none may not speak for itself either. */
export class ProxyHeaderOpening implements Opening {
  readonly patienceMs: number = HANDSHAKE_PATIENCE_MS;
  readonly tellsClient = true;
  #bytes: Buffer = Buffer.alloc(0);

  feed(chunk: Buffer): OpeningStep {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    const header = parseProxyHeader(this.#bytes, 0, this.#bytes.length);
    switch (header.kind) {
      case "more":
        return MORE;
      case "absent":
        return {
          kind: "refused",
          reason: "no PROXY header came from a network that must send one",
        };
      case "malformed":
        return { kind: "refused", reason: header.reason };
      case "header": {
        const { connection } = header;
        return {
          kind: "done",
          introduction: connection === undefined ? {} : { proxied: connection },
          rest: this.#bytes.subarray(header.end),
        };
      }
    }
  }

  giveUp(): OpeningStep {
    return { kind: "refused", reason: "the PROXY header did not come, or not all of it" };
  }
}
