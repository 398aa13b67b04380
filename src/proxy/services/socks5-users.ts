import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { UserConfig } from "../engine-config.ts";

const KEY_BYTES = 32;

/** Who may use a SOCKS5 listener. How long a wrong answer takes tells nothing about the right one. */
export class Socks5Users {
  readonly #key = randomBytes(KEY_BYTES);
  readonly #digests: ReadonlyMap<string, Buffer>;
  /** Compared with in place of the password of somebody who is not known: no password has it. */
  readonly #unknown = randomBytes(KEY_BYTES);

  constructor(users: readonly UserConfig[]) {
    this.#digests = new Map(users.map(({ name, password }) => [name, this.#digestOf(password)]));
  }

  areRight(name: string, password: string): boolean {
    return timingSafeEqual(this.#digestOf(password), this.#digests.get(name) ?? this.#unknown);
  }

  /** Of one length for all passwords, under a key that nobody else has. */
  #digestOf(password: string): Buffer {
    return createHmac("sha256", this.#key).update(password).digest();
  }
}
