import type { CommandSpec } from "../command-spec.ts";
import { kcptunCommand } from "./kcptun-command.ts";

export const KCPTUN_CLIENT: CommandSpec = kcptunCommand({
  role: "client",
  summary: "carry TCP connections over a bad line, in a KCP tunnel",
  description:
    "Connections to --listen come out at the target of the kcptun server, over one encrypted tunnel on UDP that is made again when it breaks.",
  listenHelp: "where programs of this machine call, over TCP",
  to: { name: "server", help: "where a kcptun server listens, over UDP" },
  examples: [
    {
      help: "ssh -p 2222 127.0.0.1 reaches what the server's target is",
      command: "kcptun client --listen 127.0.0.1:2222 --server tunnel.example:4000",
    },
    {
      help: "sparing, with the secret from a file",
      command:
        "kcptun client --listen 2222 --server 203.0.113.5:4000 --fast 1 --secret-file /etc/portolan/kcptun-secret",
    },
  ],
});
