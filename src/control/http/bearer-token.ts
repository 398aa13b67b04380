import { Password } from "../resp/password.ts";

const SCHEME = /^bearer +([\w.~+/=-]+) *$/i;

/** The token that requests must bring. */
export class BearerToken {
  readonly #password: Password;

  constructor(token: string) {
    this.#password = new Password(token);
  }

  /** @param header `Authorization`, as it was sent */
  isIn(header: string | undefined): boolean {
    return this.#password.isRight(SCHEME.exec(header ?? "")?.[1] ?? "");
  }
}
