import { readFile } from "node:fs/promises";
import { parseUsers } from "../backends/userspace/files/parse-users.ts";
import { CoreError, messageOf } from "../core/errors.ts";
import type { ValuesOf } from "../core/options/option-spec.ts";
import { checkAuthorities, checkPair } from "../platform/tls/check-pair.ts";
import type { LB_OPTIONS } from "./lb-options.ts";

type LbFiles = Pick<ValuesOf<typeof LB_OPTIONS>, "tlsCert" | "tlsKey" | "tlsClientCa"> &
  Partial<Pick<ValuesOf<typeof LB_OPTIONS>, "socks5Users">> & {
    readonly usersFile?: string | undefined;
  };

/**
 * That the files of a load balancer can be used, before anything is started with them.
 * @throws CoreError ERR_CONFIG_INVALID
 */
export async function checkLbFiles(values: LbFiles): Promise<void> {
  const { socks5Users, usersFile, tlsCert, tlsKey, tlsClientCa } = values;
  const parse = (text: string): void => void parseUsers(text);
  if (socks5Users !== undefined) await checkFile("--socks5-users", socks5Users, parse);
  if (usersFile !== undefined) await checkFile("--users-file", usersFile, parse);
  for (const [index, certFile] of tlsCert.entries()) {
    const keyFile = tlsKey[index] ?? "";
    const cert = await read("--tls-cert", certFile);
    const key = await read("--tls-key", keyFile);
    const problem = checkPair(cert, key, { certFiles: [certFile], keyFile });
    if (problem !== undefined) throw new CoreError("ERR_CONFIG_INVALID", `--tls-cert: ${problem}`);
  }
  if (tlsClientCa !== undefined) await checkAuthoritiesFile("--tls-client-ca", tlsClientCa);
}

/** @throws CoreError ERR_CONFIG_INVALID */
export async function checkAuthoritiesFile(flag: string, path: string): Promise<void> {
  const problem = checkAuthorities(await read(flag, path));
  if (problem === undefined) return;
  throw new CoreError("ERR_CONFIG_INVALID", `${flag}: ${path}: ${problem}`);
}

/**
 * @param parse throws where the text can not be used
 * @throws CoreError ERR_CONFIG_INVALID
 */
export async function checkFile(
  flag: string,
  path: string,
  parse: (text: string) => void,
): Promise<void> {
  const text = await read(flag, path);
  await checkUsable(flag, path, () => parse(text));
}

async function read(flag: string, path: string): Promise<string> {
  let text = "";
  await checkUsable(flag, path, async () => {
    text = await readFile(path, "utf8");
  });
  return text;
}

/**
 * @param use throws where it can not be used
 * @throws CoreError ERR_CONFIG_INVALID
 */
export async function checkUsable(
  flag: string,
  path: string,
  use: () => void | Promise<void>,
): Promise<void> {
  try {
    await use();
  } catch (error) {
    const what = messageOf(error);
    throw new CoreError("ERR_CONFIG_INVALID", `${flag}: ${path}: ${what}`, { cause: error });
  }
}
