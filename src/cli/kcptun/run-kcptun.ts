import { kcptunObjects, type TunnelEnd } from "../../apps/kcptun/kcptun-objects.ts";
import { CoreError } from "../../core/errors.ts";
import { canonicalIp, type HostPort, parseHostPort } from "../../core/model/address.ts";
import { formatListenAddress, type ListenAddress } from "../../core/options/listen-address.ts";
import { resolveConfig } from "../../daemon/config.ts";
import type { CommandInput } from "../command-spec.ts";
import { runDaemon } from "../run-daemon.ts";

export interface KcptunValues {
  readonly role: TunnelEnd["role"];
  readonly listen: ListenAddress | undefined;
  /** `--target` or `--server`, with what it says. */
  readonly to: readonly [flag: string, text: string | undefined];
  readonly secretFile: string | undefined;
  readonly fast: number;
}

/** A preset of the daemon: the command line is the source, the userspace proxy the backend. */
export async function runKcptun(values: KcptunValues, input: CommandInput): Promise<number> {
  const { context, flags } = input;
  const problems: string[] = [];
  const listen = listenPlace(values.listen, problems);
  const to = otherPlace(values.to, problems);
  const { secretFile } = values;
  if (secretFile === undefined && (context.environment["PORTOLAN_KCPTUN_SECRET"] ?? "") === "") {
    problems.push(
      "--secret-file: missing; expected the secret in that file, or in PORTOLAN_KCPTUN_SECRET",
    );
  }
  if (listen === undefined || to === undefined || problems.length > 0) {
    throw new CoreError("ERR_USAGE", problems.join("\n"));
  }
  const objects = kcptunObjects({ role: values.role, listen, to });
  const config = await resolveConfig({
    flags: {
      ...flags,
      to: ["userspace"],
      kcpFast: values.fast,
      ...(secretFile !== undefined && { kcpSecretFile: secretFile }),
    },
    environment: context.environment,
    hostName: context.hostName,
    sources: [{ kind: "given", owner: "kcptun", objects }],
  });
  return runDaemon(config, context, { endsOnFirstFailure: true });
}

function listenPlace(listen: ListenAddress | undefined, problems: string[]): HostPort | undefined {
  const ip = listen?.kind === "unix" ? undefined : listen && canonicalIp(listen.host);
  if (listen?.kind !== "unix" && ip !== undefined && listen !== undefined && listen.port > 0) {
    return { host: ip, port: listen.port };
  }
  const what = listen === undefined ? "missing" : `"${formatListenAddress(listen)}" is not valid`;
  problems.push(`--listen: ${what}; expected an IP address and a port from 1 to 65535`);
  return undefined;
}

function otherPlace([flag, text]: KcptunValues["to"], problems: string[]): HostPort | undefined {
  const place = text === undefined ? undefined : parseHostPort(text);
  if (place !== undefined) return place;
  const what = text === undefined ? "missing" : `"${text}" is not valid`;
  problems.push(`${flag}: ${what}; expected HOST:PORT`);
  return undefined;
}
