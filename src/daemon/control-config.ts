import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { CoreError } from "../core/errors.ts";
import type { ListenAddress } from "../core/options/listen-address.ts";
import { flagName } from "../core/options/option-spec.ts";
import type { ControlValues } from "./options.ts";
import { instancePath } from "./presence.ts";

/** Where a controller listens, and what its clients have to say. */
export interface ControllerConfig {
  readonly address: ListenAddress;
  /** Undefined: it answers on this machine only. */
  readonly secret: string | undefined;
}

/** Who may give commands, and where what they make is kept. */
export interface ControlConfig {
  /** Absolute. */
  readonly stateFolder: string;
  readonly resp: ControllerConfig | undefined;
  readonly http: ControllerConfig | undefined;
  readonly httpHosts: readonly string[];
  /** Whether system commands may come from elsewhere than the console. */
  readonly maySystem: boolean;
  /** Whether it begins without what commands made before. */
  readonly beginsEmpty: boolean;
  /** Whether commands are typed on the terminal that it is started on. */
  readonly hasConsole: boolean;
}

/** @throws CoreError ERR_USAGE, ERR_CONFIG_INVALID */
export async function resolveControl(
  values: ControlValues,
  state: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<ControlConfig> {
  const secretOf = (file: "respPasswordFile" | "httpTokenFile", variable: string) =>
    readSecret({ option: `--${flagName(file)}`, path: values[file] }, variable, environment);
  return {
    stateFolder: resolve(dirname(instancePath(state))),
    resp: controllerOf(
      addressOf(values.respListen),
      await secretOf("respPasswordFile", "PORTOLAN_RESP_PASSWORD"),
    ),
    http: controllerOf(
      addressOf(values.httpListen),
      await secretOf("httpTokenFile", "PORTOLAN_HTTP_TOKEN"),
    ),
    httpHosts: values.httpHosts,
    maySystem: values.allowSystemCommands,
    beginsEmpty: values.noLoad,
    hasConsole: values.console,
  };
}

export function addressOf(value: ListenAddress | "off" | undefined): ListenAddress | undefined {
  return value === "off" ? undefined : value;
}

function controllerOf(
  address: ListenAddress | undefined,
  secret: string | undefined,
): ControllerConfig | undefined {
  return address && { address, secret };
}

async function readSecret(
  { option, path }: { readonly option: string; readonly path: string | undefined },
  variable: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const given = environment[variable];
  if (path === undefined) return given === "" ? undefined : given;
  if (given !== undefined && given !== "") {
    throw new CoreError("ERR_USAGE", `${option} and ${variable} are both given; expected one`);
  }
  return readSecretFile(path, option);
}

/** What stands in the file, without the end of its last line. @throws CoreError ERR_CONFIG_INVALID */
export async function readSecretFile(path: string, place: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CoreError("ERR_CONFIG_INVALID", `${place}: ${path} can not be read: ${why}`, {
      cause,
    });
  }
  const secret = text.replace(/\r?\n$/, "");
  if (secret !== "") return secret;
  throw new CoreError("ERR_CONFIG_INVALID", `${place}: ${path} is empty; expected a secret in it`);
}
