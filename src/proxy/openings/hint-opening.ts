import type { RequestHint } from "../../core/route/packet.ts";
import { peekRequest } from "../../wire/http1/peek-request.ts";
import { peekClientHello } from "../../wire/tls-hello/peek-client-hello.ts";
import { MORE, type Opening, type OpeningStep } from "./opening.ts";

/** What is not said by then is not waited for. */
const MAX_PEEK_BYTES = 16_384;
/** Then it probably waits for the server to speak. */
const PATIENCE_MS = 3000;

type Peek = { readonly kind: "more" } | { readonly kind: "known"; readonly hint?: RequestHint };

/**
 * Looks for where a client wants to go, in a TLS ClientHello or the head of an HTTP/1 request; all bytes
 * pass on untouched. Whatever else it speaks, and where it waits for the server to speak first,
 * there is no hint.
 */
export class HintOpening implements Opening {
  readonly patienceMs: number = PATIENCE_MS;
  #bytes: Buffer = Buffer.alloc(0);

  feed(chunk: Buffer): OpeningStep {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    const peek = peekHint(this.#bytes);
    if (peek.kind === "more" && this.#bytes.length < MAX_PEEK_BYTES) return MORE;
    return this.#done(peek.kind === "known" ? peek.hint : undefined);
  }

  giveUp(): OpeningStep {
    return this.#done(undefined);
  }

  #done(hint: RequestHint | undefined): OpeningStep {
    return {
      kind: "done",
      introduction: hint === undefined ? {} : { hint },
      rest: this.#bytes,
    };
  }
}

function peekHint(bytes: Buffer): Peek {
  const tls = peekClientHello(bytes, 0, bytes.length);
  switch (tls.kind) {
    case "more":
      return { kind: "more" };
    case "malformed":
      return { kind: "known" };
    case "hello":
      return tls.hello.serverName === ""
        ? { kind: "known" }
        : { kind: "known", hint: { host: tls.hello.serverName } };
    case "not-tls": {
      const http = peekRequest(bytes, 0, bytes.length, MAX_PEEK_BYTES);
      if (http.kind === "more") return { kind: "more" };
      if (http.kind === "not-http") return { kind: "known" };
      return { kind: "known", hint: { host: http.host, path: http.path } };
    }
  }
}
