import {
  type WebsocksServerValues,
  websocksServerObjects,
} from "../../apps/websocks/websocks-server-objects.ts";
import { WEBSOCKS_SERVER_OPTIONS } from "../../apps/websocks/websocks-server-options.ts";
import { checkLbAddress } from "../check-lb-address.ts";
import { checkLbFiles } from "../check-lb-files.ts";
import { checkLbTls } from "../check-lb-tls.ts";
import type { CommandInput, CommandSpec } from "../command-spec.ts";
import { resolveFlags } from "../flags.ts";
import { checkPasswordFile } from "./check-password-file.ts";
import { checkWebRoot } from "./check-web-root.ts";
import { ENGINE_OPTIONS, runWebsocks, WEBSOCKS_INSTANCE_GROUPS } from "./websocks-instance.ts";

/** The end of tunnels that reaches the targets. */
export const WEBSOCKS_SERVER: CommandSpec = {
  name: "websocks server",
  summary: "the end of WebSocks tunnels that connects to what agents ask for",
  description:
    "Needs no root. Who has the password may reach everything that this machine can, unless --target says otherwise; everybody else sees a site. The password comes from PORTOLAN_WEBSOCKS_PASSWORD or a file. The clocks of both ends may be a minute apart. See docs/websocks.md.",
  arguments: [],
  optionGroups: [{ title: "Server", specs: WEBSOCKS_SERVER_OPTIONS }, ...WEBSOCKS_INSTANCE_GROUPS],
  examples: [
    {
      help: "behind a gateway on this machine, which has the certificate",
      command: "websocks server --listen 18686 --user alice --password-file password.txt",
    },
    {
      help: "for itself, with a site, and nothing of its own networks",
      command:
        'websocks server --listen 0.0.0.0:443 --users-file users.txt --tls-cert cert.pem --tls-key key.pem --web-root site --target "deny 127.0.0.0/8" --target "deny ::1" --target "deny 10.0.0.0/8"',
    },
  ],
  run: serve,
};

async function serve(input: CommandInput): Promise<number> {
  const values = resolveFlags(WEBSOCKS_SERVER_OPTIONS, input);
  const objects = websocksServerObjects(values, input.context.environment);
  checkLbAddress(values.listen);
  await checkFiles(values);
  const { provider } = resolveFlags(ENGINE_OPTIONS, input);
  if (values.tlsCert.length > 0) await checkLbTls(provider);
  return runWebsocks(input, "websocks-server", objects);
}

async function checkFiles({
  usersFile,
  passwordFile,
  webRoot,
  tlsCert,
  tlsKey,
}: WebsocksServerValues): Promise<void> {
  if (passwordFile !== undefined) await checkPasswordFile(passwordFile);
  if (webRoot !== undefined) await checkWebRoot(webRoot);
  await checkLbFiles({ usersFile, tlsCert, tlsKey, tlsClientCa: undefined });
}
