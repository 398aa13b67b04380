import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { goodMinutes, websocksSecret, websocksToken } from "../../wire/websocks/websocks-token.ts";
import type { UserConfig } from "../engine-config.ts";

const KEY_BYTES = 32;

/** Who may have a tunnel. How long a wrong answer takes tells nothing about the right one. */
export class WebsocksUsers {
  readonly #key = randomBytes(KEY_BYTES);
  readonly #secrets: ReadonlyMap<string, string>;
  readonly #passes: ReadonlySet<string>;
  /** Stands for the secret of somebody who is not known: no password has it. */
  readonly #unknown = randomBytes(KEY_BYTES).toString("base64");

  constructor(users: readonly UserConfig[]) {
    this.#secrets = new Map(users.map(({ name, password }) => [name, websocksSecret(password)]));
    this.#passes = new Set([...this.#secrets].map(([name, secret]) => passOf(name, secret)));
  }

  /** What a user is let in by, for as long as nothing is changed about it; undefined where it is not right. */
  admit(name: string, token: string, nowMs: number): string | undefined {
    return this.areRight(name, token, nowMs)
      ? passOf(name, this.#secrets.get(name) ?? this.#unknown)
      : undefined;
  }

  /** Whether who was let in by it, perhaps when there were other users, would be let in now. */
  isGood(pass: string): boolean {
    return this.#passes.has(pass);
  }

  /** Whether the token is that of the user, for this minute or one of the two beside it. */
  areRight(name: string, token: string, nowMs: number): boolean {
    const secret = this.#secrets.get(name) ?? this.#unknown;
    const given = this.#digestOf(token);
    let isRight = false;
    // All of them, also after one was right.
    for (const minute of goodMinutes(nowMs)) {
      const isThis = timingSafeEqual(given, this.#digestOf(websocksToken(secret, minute)));
      isRight = isThis || isRight;
    }
    return isRight;
  }

  /** Of one length for all tokens, under a key that nobody else has. */
  #digestOf(token: string): Buffer {
    return createHmac("sha256", this.#key).update(token).digest();
  }
}

/** Not the secret itself: it is kept with each connection. */
function passOf(name: string, secret: string): string {
  return createHash("sha256")
    .update(JSON.stringify([name, secret]))
    .digest("base64");
}
