import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { goodMinutes, websocksSecret, websocksToken } from "../../wire/websocks/websocks-token.ts";
import type { UserConfig } from "../engine-config.ts";

const KEY_BYTES = 32;

/** Who may have a tunnel. How long a wrong answer takes tells nothing about the right one. */
export class WebsocksUsers {
  readonly #key = randomBytes(KEY_BYTES);
  readonly #secrets: ReadonlyMap<string, string>;
  /** Stands for the secret of somebody who is not known: no password has it. */
  readonly #unknown = randomBytes(KEY_BYTES).toString("base64");

  constructor(users: readonly UserConfig[]) {
    this.#secrets = new Map(users.map(({ name, password }) => [name, websocksSecret(password)]));
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
