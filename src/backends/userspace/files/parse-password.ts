import { CoreError } from "../../../core/errors.ts";

const MAX_BYTES = 1024;

/**
 * A password as it stands in a file or a variable: one line, whose end is no part of it.
 * @throws CoreError ERR_CONFIG_INVALID, without the text
 */
export function parsePassword(text: string): string {
  const password = text.replace(/\r?\n$/, "");
  const isGood =
    password !== "" && !/[\r\n]/.test(password) && Buffer.byteLength(password) <= MAX_BYTES;
  if (isGood) return password;
  throw new CoreError(
    "ERR_CONFIG_INVALID",
    `expected the password in one line of 1 to ${MAX_BYTES} bytes, and nothing else`,
  );
}
