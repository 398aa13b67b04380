import { SOCKS_VERSION } from "../../wire/socks5/socks5-words.ts";
import { HANDSHAKE_PATIENCE_MS, type Opening, type OpeningStep } from "../openings/opening.ts";
import { Socks5Opening } from "../openings/socks5-opening.ts";
import { HttpProxyOpening } from "./http-proxy-opening.ts";

/** What a program says to an agent: SOCKS5 or HTTP, told apart by the first byte. */
export class AgentOpening implements Opening {
  readonly patienceMs: number = HANDSHAKE_PATIENCE_MS;
  readonly #renderPac: () => string;
  #opening: Opening | undefined;
  #isSocks = false;

  constructor(renderPac: () => string) {
    this.#renderPac = renderPac;
  }

  feed(chunk: Buffer): OpeningStep {
    this.#opening ??= this.#choose(chunk);
    const step = this.#opening.feed(chunk);
    if (!this.#isSocks || step.kind !== "done") return step;
    return { ...step, introduction: { ...step.introduction, asked: "socks5" } };
  }

  giveUp(): OpeningStep {
    return this.#opening?.giveUp() ?? { kind: "refused", reason: "the client has said nothing" };
  }

  #choose(chunk: Buffer): Opening {
    this.#isSocks = chunk[0] === SOCKS_VERSION;
    return this.#isSocks ? new Socks5Opening() : new HttpProxyOpening(this.#renderPac);
  }
}
