import { FrameReader } from "../../wire/websocks/frame-reader.ts";
import { ENDLESS_FRAME } from "../../wire/websocks/websocks-words.ts";
import type { Opening, OpeningStep } from "../openings/opening.ts";

/** After the upgrade: a client may keep the connection for later, until it begins its frame. */
export class FrameOpening implements Opening {
  readonly isIdle = true;
  readonly patienceMs: number;
  readonly #reader = new FrameReader();

  /** @param patienceMs for how long a client may keep it without a sign of life */
  constructor(patienceMs: number) {
    this.patienceMs = patienceMs;
  }

  feed(chunk: Buffer): OpeningStep {
    const outcome = this.#reader.feed(chunk);
    switch (outcome.kind) {
      case "more":
        return { kind: "more", isAlive: outcome.pongs > 0 };
      case "bad":
        return { kind: "refused", reason: outcome.reason };
      case "frame":
        return { kind: "done", introduction: {}, rest: outcome.rest, say: ENDLESS_FRAME };
    }
  }

  giveUp(): OpeningStep {
    return { kind: "refused", reason: "a connection that was kept ready was not used" };
  }
}
