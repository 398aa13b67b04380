import { readSocks5Address } from "../socks5/socks5-address.ts";
import { renderSocks5Request } from "../socks5/socks5-request.ts";
import {
  METHOD_NONE,
  REPLIES,
  SOCKS_VERSION,
  type Socks5Address,
  type Socks5ReplyWord,
} from "../socks5/socks5-words.ts";
import type { ClientStep, ClientTalk } from "./client-step.ts";
import { ENDLESS_FRAME } from "./websocks-words.ts";

const NO_BYTES = Buffer.alloc(0);
const MORE: ClientStep = Object.freeze({ kind: "more" });
const GREETING = Buffer.from([SOCKS_VERSION, 1, METHOD_NONE]);
const CHOICE_BYTES = 2;
const REPLY_HEAD_BYTES = 3;

/**
 * From an upgraded connection to a target: the frame, then SOCKS5. Each word waits for the answer to the
 * one before: servers need not take them together.
 */
export class TargetClient implements ClientTalk {
  readonly first: Buffer = ENDLESS_FRAME;
  readonly #target: Socks5Address;
  #state: "frame" | "choice" | "reply" = "frame";
  #bytes: Buffer = NO_BYTES;

  constructor(target: Socks5Address) {
    this.#target = target;
  }

  feed(chunk: Buffer): ClientStep {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    switch (this.#state) {
      case "frame":
        return this.#readFrame();
      case "choice":
        return this.#readChoice();
      case "reply":
        return this.#readReply();
    }
  }

  #readFrame(): ClientStep {
    const length = Math.min(this.#bytes.length, ENDLESS_FRAME.length);
    if (!this.#bytes.subarray(0, length).equals(ENDLESS_FRAME.subarray(0, length))) {
      return failed("it does not answer with the binary frame of WebSocks");
    }
    if (length < ENDLESS_FRAME.length) return MORE;
    return this.#next("choice", length, GREETING);
  }

  #readChoice(): ClientStep {
    const [version, method] = this.#bytes;
    if (version !== undefined && version !== SOCKS_VERSION) return failed("it speaks no SOCKS5");
    if (method === undefined) return MORE;
    if (method !== METHOD_NONE) return failed("its SOCKS5 wants another authentication than none");
    return this.#next("reply", CHOICE_BYTES, renderSocks5Request(this.#target));
  }

  #readReply(): ClientStep {
    const [version, code, reserved] = this.#bytes;
    if (version !== undefined && version !== SOCKS_VERSION) return failed("it speaks no SOCKS5");
    if (code === undefined || reserved === undefined) return MORE;
    // Some say no more than this where it went wrong.
    if (code !== REPLIES.succeeded) return { kind: "refused", word: wordOf(code) };
    const bound = readSocks5Address(this.#bytes, REPLY_HEAD_BYTES);
    switch (bound.kind) {
      case "more":
        return MORE;
      case "unsupported":
        return failed("the address in its SOCKS5 reply is of no known type");
      case "malformed":
        return this.#skipName();
      case "address":
        return { kind: "done", rest: this.#bytes.subarray(bound.end) };
    }
  }

  /** What stands there for a name does not matter: only where it ends. */
  #skipName(): ClientStep {
    const end = REPLY_HEAD_BYTES + 2 + (this.#bytes[REPLY_HEAD_BYTES + 1] ?? 0) + 2;
    return { kind: "done", rest: this.#bytes.subarray(end) };
  }

  /** What comes before it was asked for is none of this protocol. */
  #next(state: "choice" | "reply", end: number, say: Buffer): ClientStep {
    this.#state = state;
    const rest = this.#bytes.subarray(end);
    this.#bytes = NO_BYTES;
    if (rest.length > 0) return failed("it says more than it was asked for");
    return { kind: "more", say };
  }
}

function wordOf(code: number): Socks5ReplyWord {
  const words: readonly (readonly [string, number])[] = Object.entries(REPLIES);
  const [word] = words.find(([, number]) => number === code) ?? [];
  return isReplyWord(word) ? word : "general-failure";
}

function isReplyWord(word: string | undefined): word is Socks5ReplyWord {
  return word !== undefined && word !== "succeeded" && Object.hasOwn(REPLIES, word);
}

function failed(reason: string): ClientStep {
  return { kind: "failed", reason };
}
