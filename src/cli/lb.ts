import { USERSPACE_OPTIONS } from "../backends/userspace/options.ts";
import { resolveConfig } from "../daemon/config.ts";
import { INSTANCE_OPTIONS, LOG_OPTIONS } from "../daemon/options.ts";
import { checkLbAddress } from "./check-lb-address.ts";
import { checkLbFiles } from "./check-lb-files.ts";
import { checkLbTls } from "./check-lb-tls.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { resolveFlags } from "./flags.ts";
import { lbObjects } from "./lb-objects.ts";
import { LB_OPTIONS } from "./lb-options.ts";
import { runDaemon } from "./run-daemon.ts";

const { state, metricsListen, healthListen, dryRun, json } = INSTANCE_OPTIONS;
const { nodeportAddresses: _, ...ENGINE_OPTIONS } = USERSPACE_OPTIONS;

/** A preset of the daemon: the command line is the source, the userspace proxy the backend. */
export const LB: CommandSpec = {
  name: "lb",
  summary: "balance connections to servers, in one line",
  description:
    "Needs no root. SIGTERM ends it: no new connections, and the open ones may go on for the time that --drain-timeout says.",
  arguments: [],
  optionGroups: [
    { title: "Load balancer", specs: LB_OPTIONS },
    { title: "Proxy", specs: ENGINE_OPTIONS },
    { title: "This instance", specs: { state, metricsListen, healthListen, dryRun, json } },
    { title: "Logs", specs: LOG_OPTIONS },
  ],
  examples: [
    {
      help: "two servers behind port 8080 of all addresses",
      command: "lb --listen 0.0.0.0:8080 --servers 10.0.0.1:80,10.0.0.2:80",
    },
    {
      help: "HTTP requests one by one, to the server with the fewest",
      command:
        "lb --listen 8080 --servers 10.0.0.1:80,10.0.0.2:80 --protocol http --method least-connections",
    },
    {
      help: "HTTPS for two servers that speak plain HTTP",
      command:
        "lb --listen 0.0.0.0:443 --servers 10.0.0.1:80,10.0.0.2:80 --protocol http --tls-cert cert.pem --tls-key key.pem",
    },
    {
      help: "two servers on unix sockets of this machine",
      command: "lb --listen 8080 --servers unix:/run/app-1.sock,unix:/run/app-2.sock",
    },
    {
      help: "in place of the one that runs, without a connection refused",
      command: "lb --listen 8080 --servers 10.0.0.1:80,10.0.0.3:80 --take-over",
    },
    {
      help: "a SOCKS5 proxy for this machine",
      command: "lb --listen 1080 --socks5 --allow-others",
    },
    {
      help: "a SOCKS5 proxy for those whose name:password stands in a file",
      command: "lb --listen 0.0.0.0:1080 --socks5 --allow-others --socks5-users users.txt",
    },
  ],
  run: balance,
};

async function balance(input: CommandInput): Promise<number> {
  const { flags, context } = input;
  const values = resolveFlags(LB_OPTIONS, input);
  const objects = lbObjects(values);
  checkLbAddress(values.listen);
  await checkLbFiles(values);
  const { provider } = resolveFlags(ENGINE_OPTIONS, input);
  if (values.tlsCert.length > 0) await checkLbTls(provider);
  const config = await resolveConfig({
    flags: { ...flags, to: ["userspace"] },
    environment: context.environment,
    hostName: context.hostName,
    sources: [{ kind: "given", owner: "lb", objects }],
  });
  // Somebody waits at a terminal: a port that is taken is to be told, not waited for.
  return runDaemon(config, context, { endsOnFirstFailure: true });
}
