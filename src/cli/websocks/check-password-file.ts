import { parsePassword } from "../../backends/userspace/files/parse-password.ts";
import { checkFile } from "../check-lb-files.ts";

/**
 * That a password can be read, before anything is started with it.
 * @throws CoreError ERR_CONFIG_INVALID
 */
export function checkPasswordFile(path: string): Promise<void> {
  return checkFile("--password-file", path, (text) => void parsePassword(text));
}
