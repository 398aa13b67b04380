import { CoreError } from "../../core/errors.ts";
import { Password } from "../password.ts";

const SCHEME = /^bearer +(\S+) *$/i;
const TOKEN = /^[!-~]+$/;

/** The token that requests must bring. */
export class BearerToken {
  readonly #password: Password;

  /** @throws CoreError ERR_CONFIG_INVALID where no header could hold it */
  constructor(token: string) {
    if (!TOKEN.test(token)) {
      throw new CoreError(
        "ERR_CONFIG_INVALID",
        "the token of the HTTP controller is not valid; expected letters, digits and signs of ASCII, without spaces",
      );
    }
    this.#password = new Password(token);
  }

  /** @param header `Authorization`, as it was sent */
  isIn(header: string | undefined): boolean {
    return this.#password.isRight(SCHEME.exec(header ?? "")?.[1] ?? "");
  }
}
