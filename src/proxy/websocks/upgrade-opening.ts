import { renderPlainResponse } from "../../wire/http1/plain-response.ts";
import type { BasicCredentials } from "../../wire/websocks/basic-credentials.ts";
import { renderUpgradeResponse } from "../../wire/websocks/render-upgrade.ts";
import { type FirstRequest, FirstRequestReader } from "../../wire/websocks/upgrade-request.ts";
import {
  HANDSHAKE_PATIENCE_MS,
  MORE,
  type Opening,
  type OpeningStep,
} from "../openings/opening.ts";
import type { Site } from "./site.ts";

export interface UpgradeOpeningOptions {
  /** What somebody is let in by who may have a tunnel; undefined for all others. */
  readonly admits: (credentials: BasicCredentials | undefined) => string | undefined;
  /** What all others see. */
  readonly site: Site;
}

const UNAUTHORIZED = 401;
const TIMEOUT = 408;
/** Who guesses passwords has to wait. */
const WRONG_PASSWORD_MS = 1000;

/** The request with which a client of WebSocks asks for a tunnel; others get a page. */
export class UpgradeOpening implements Opening {
  readonly patienceMs: number = HANDSHAKE_PATIENCE_MS;
  readonly #options: UpgradeOpeningOptions;
  readonly #reader = new FirstRequestReader();
  #hasBegun = false;

  constructor(options: UpgradeOpeningOptions) {
    this.#options = options;
  }

  feed(chunk: Buffer): OpeningStep {
    this.#hasBegun = true;
    const request = this.#reader.feed(chunk);
    switch (request.kind) {
      case "more":
        return MORE;
      case "bad":
        return farewell(renderPlainResponse(request.status), request.reason);
      case "page":
        return farewell(this.#options.site.answer(request.method, request.path));
      case "upgrade":
        return this.#upgrade(request);
    }
  }

  giveUp(): OpeningStep {
    const reason = "the request did not come, or not all of it";
    return this.#hasBegun
      ? { kind: "refused", reason, say: renderPlainResponse(TIMEOUT) }
      : { kind: "refused", reason };
  }

  #upgrade({ key, credentials, rest }: Extract<FirstRequest, { kind: "upgrade" }>): OpeningStep {
    const pass = this.#options.admits(credentials);
    if (pass === undefined) {
      const say = renderPlainResponse(UNAUTHORIZED);
      const reason = "wrong user or password, or a clock that is more than a minute off";
      return { kind: "farewell", say, afterMs: WRONG_PASSWORD_MS, reason };
    }
    return { kind: "done", introduction: { pass }, rest, say: renderUpgradeResponse(key) };
  }
}

function farewell(say: Buffer, reason?: string): OpeningStep {
  return { kind: "farewell", say, afterMs: 0, ...(reason !== undefined && { reason }) };
}
