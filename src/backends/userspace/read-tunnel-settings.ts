import { readFile } from "node:fs/promises";
import { CoreError, messageOf } from "../../core/errors.ts";
import type { TunnelSettings } from "../../net/kcp/kcp-options.ts";
import { tunnelKeyOf } from "../../net/kcp/tunnel-key.ts";
import type { FastLevel } from "../../wire/kcp/kcp-mode.ts";

const VARIABLE = "PORTOLAN_KCPTUN_SECRET";
const LEVELS: readonly FastLevel[] = [1, 2, 3, 4];

/** Undefined where no secret was given. @throws CoreError ERR_CONFIG_INVALID */
export async function readTunnelSettings(
  options: { readonly kcpSecretFile?: string | undefined; readonly kcpFast: number },
  environment: Readonly<Record<string, string | undefined>>,
): Promise<TunnelSettings | undefined> {
  const fast = LEVELS.find((level) => level === options.kcpFast) ?? 4;
  const path = options.kcpSecretFile;
  if (path !== undefined) return { key: await readKey(path), fast };
  const secret = environment[VARIABLE];
  return secret === undefined || secret === ""
    ? undefined
    : { key: tunnelKeyOf(secret, VARIABLE), fast };
}

/** Told by the file: its option is not called the same in all commands. */
async function readKey(path: string): Promise<Buffer> {
  const source = `the secret file of KCP tunnels, ${path}`;
  let secret: string;
  try {
    secret = await readFile(path, "utf8");
  } catch (cause) {
    const message = `${source}: can not be read: ${messageOf(cause)}`;
    throw new CoreError("ERR_CONFIG_INVALID", message, { cause });
  }
  return tunnelKeyOf(secret, source);
}
