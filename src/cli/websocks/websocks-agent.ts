import { websocksAgentObjects } from "../../apps/websocks/websocks-agent-objects.ts";
import { WEBSOCKS_AGENT_OPTIONS } from "../../apps/websocks/websocks-agent-options.ts";
import { checkLbAddress } from "../check-lb-address.ts";
import { checkAuthoritiesFile } from "../check-lb-files.ts";
import { checkLbTls } from "../check-lb-tls.ts";
import type { CommandInput, CommandSpec } from "../command-spec.ts";
import { resolveFlags } from "../flags.ts";
import { checkPasswordFile } from "./check-password-file.ts";
import { ENGINE_OPTIONS, runWebsocks, WEBSOCKS_INSTANCE_GROUPS } from "./websocks-instance.ts";

/** The end of tunnels that programs call. */
export const WEBSOCKS_AGENT: CommandSpec = {
  name: "websocks agent",
  summary: "the end of WebSocks tunnels that programs use as their proxy",
  description:
    "Needs no root. SOCKS5 and HTTP proxying (CONNECT too) are on one port, and so is /proxy.pac for browsers. Names are looked up by the server, unless a rule says direct. The password comes from PORTOLAN_WEBSOCKS_PASSWORD or a file. See docs/websocks.md.",
  arguments: [],
  optionGroups: [{ title: "Agent", specs: WEBSOCKS_AGENT_OPTIONS }, ...WEBSOCKS_INSTANCE_GROUPS],
  examples: [
    {
      help: "a tunnel by way of a gateway with a certificate",
      command: "websocks agent --listen 1080 --server wss://alice@tunnel.example:443",
    },
    {
      help: "two servers; what is local stays local",
      command:
        'websocks agent --listen 1080 --server ws://alice@10.0.0.1:18686 --server ws://alice@10.0.0.2:18686 --rule "direct .local" --rule "direct 192.168.0.0/16"',
    },
  ],
  run: serve,
};

async function serve(input: CommandInput): Promise<number> {
  const values = resolveFlags(WEBSOCKS_AGENT_OPTIONS, input);
  const objects = websocksAgentObjects(values, input.context.environment);
  checkLbAddress(values.listen);
  if (values.passwordFile !== undefined) await checkPasswordFile(values.passwordFile);
  if (values.ca !== undefined) await checkAuthoritiesFile("--ca", values.ca);
  const { provider } = resolveFlags(ENGINE_OPTIONS, input);
  const isSecure = values.server.some((url) => url.startsWith("wss:"));
  if (isSecure) await checkLbTls(provider, "--server");
  return runWebsocks(input, "websocks-agent", objects);
}
