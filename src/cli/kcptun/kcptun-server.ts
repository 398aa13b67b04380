import type { CommandSpec } from "../command-spec.ts";
import { kcptunCommand } from "./kcptun-command.ts";

export const KCPTUN_SERVER: CommandSpec = kcptunCommand({
  role: "server",
  summary: "take streams out of KCP tunnels and lead them to one place",
  description:
    "Listens on UDP for kcptun clients that know the same secret; who does not gets no answer at all.",
  listenHelp: "where clients of tunnels call, over UDP",
  to: {
    name: "target",
    help: "where the streams that come out of tunnels are led to, over TCP",
  },
  examples: [
    {
      help: "an SSH server behind a bad line",
      command: "kcptun server --listen 0.0.0.0:4000 --target 127.0.0.1:22",
    },
  ],
});
