import { readFile } from "node:fs/promises";
import { parseUsers } from "../backends/userspace/files/parse-users.ts";
import { CoreError, messageOf } from "../core/errors.ts";
import type { ValuesOf } from "../core/options/option-spec.ts";
import { checkAuthorities, checkPair } from "../platform/tls/check-pair.ts";
import type { LB_OPTIONS } from "./lb-options.ts";

type LbFiles = Pick<
  ValuesOf<typeof LB_OPTIONS>,
  "socks5Users" | "tlsCert" | "tlsKey" | "tlsClientCa"
>;

/**
 * That the files of a load balancer can be used, before anything is started with them.
 * @throws CoreError ERR_CONFIG_INVALID
 */
export async function checkLbFiles(values: LbFiles): Promise<void> {
  const { socks5Users, tlsCert, tlsKey, tlsClientCa } = values;
  if (socks5Users !== undefined) {
    const text = await read("--socks5-users", socks5Users);
    await refuse("--socks5-users", socks5Users, () => void parseUsers(text));
  }
  for (const [index, certFile] of tlsCert.entries()) {
    const keyFile = tlsKey[index] ?? "";
    const cert = await read("--tls-cert", certFile);
    const key = await read("--tls-key", keyFile);
    const problem = checkPair(cert, key, { certFiles: [certFile], keyFile });
    if (problem !== undefined) throw new CoreError("ERR_CONFIG_INVALID", `--tls-cert: ${problem}`);
  }
  if (tlsClientCa === undefined) return;
  const problem = checkAuthorities(await read("--tls-client-ca", tlsClientCa));
  if (problem === undefined) return;
  throw new CoreError("ERR_CONFIG_INVALID", `--tls-client-ca: ${tlsClientCa}: ${problem}`);
}

async function read(flag: string, path: string): Promise<string> {
  let text = "";
  await refuse(flag, path, async () => {
    text = await readFile(path, "utf8");
  });
  return text;
}

async function refuse(flag: string, path: string, use: () => void | Promise<void>): Promise<void> {
  try {
    await use();
  } catch (error) {
    const what = messageOf(error);
    throw new CoreError("ERR_CONFIG_INVALID", `${flag}: ${path}: ${what}`, { cause: error });
  }
}
