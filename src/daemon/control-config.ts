import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { isPrivate } from "../control/listening.ts";
import { CoreError, messageOf } from "../core/errors.ts";
import { formatListenAddress, type ListenAddress } from "../core/options/listen-address.ts";
import { flagName } from "../core/options/option-spec.ts";
import { readRegularFile } from "../platform/read-regular-file.ts";
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

const MAX_SECRET_BYTES = 65_536;

/** @throws CoreError ERR_USAGE, ERR_CONFIG_INVALID */
export async function resolveControl(
  values: ControlValues,
  state: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<ControlConfig> {
  const secretOf = (file: "respPasswordFile" | "httpTokenFile", variable: string) =>
    readSecret({ option: `--${flagName(file)}`, path: values[file] }, variable, environment);
  const resp = controllerOf(
    addressOf(values.respListen),
    await secretOf("respPasswordFile", "PORTOLAN_RESP_PASSWORD"),
  );
  const http = controllerOf(
    addressOf(values.httpListen),
    await secretOf("httpTokenFile", "PORTOLAN_HTTP_TOKEN"),
  );
  refuseOpen([
    { config: resp, option: "--resp-listen", remedy: "PORTOLAN_RESP_PASSWORD" },
    { config: http, option: "--http-listen", remedy: "PORTOLAN_HTTP_TOKEN" },
  ]);
  return {
    stateFolder: resolve(dirname(instancePath(state))),
    resp,
    http,
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

/** A controller that others can reach has a secret. @throws CoreError ERR_CONFIG_INVALID that names all that have none */
function refuseOpen(
  controllers: readonly {
    readonly config: ControllerConfig | undefined;
    readonly option: string;
    /** The variable that could hold its secret. */
    readonly remedy: string;
  }[],
): void {
  const lines = controllers.flatMap(({ config, option, remedy }) => {
    if (config === undefined || config.secret !== undefined || isPrivate(config.address)) return [];
    const address = formatListenAddress(config.address);
    return [`${option}: others can reach ${address}; set ${remedy}, or listen on 127.0.0.1`];
  });
  if (lines.length > 0) throw new CoreError("ERR_CONFIG_INVALID", lines.join("\n"));
}

/** From a file that an option names, or from a variable. @throws CoreError ERR_USAGE, ERR_CONFIG_INVALID */
export async function readSecret(
  { option, path }: { readonly option: string; readonly path: string | undefined },
  variable: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const given = environment[variable];
  if (path === undefined) return given === "" ? undefined : given;
  if (given !== undefined && given !== "") {
    throw new CoreError("ERR_USAGE", `${option} and ${variable} are both given; expected one`);
  }
  // Who starts the instance may well give a pipe: `--http-token-file <(pass portolan)`.
  return secretIn(path, option, () => readFile(path, "utf8"));
}

/**
 * What stands in a file that a command names, without the end of its last line.
 * @throws CoreError ERR_CONFIG_INVALID
 */
export function readSecretFile(path: string, place: string): Promise<string> {
  return secretIn(path, place, () => readWithin(path));
}

async function readWithin(path: string): Promise<string> {
  const text = await readRegularFile(path, MAX_SECRET_BYTES);
  if (text === undefined) throw new RangeError(`it has more than ${MAX_SECRET_BYTES} bytes`);
  return text;
}

async function secretIn(path: string, place: string, read: () => Promise<string>): Promise<string> {
  let text: string;
  try {
    text = await read();
  } catch (cause) {
    const why = messageOf(cause);
    throw new CoreError("ERR_CONFIG_INVALID", `${place}: ${path} can not be read: ${why}`, {
      cause,
    });
  }
  const secret = text.replace(/\r?\n$/, "");
  if (secret !== "") return secret;
  throw new CoreError("ERR_CONFIG_INVALID", `${place}: ${path} is empty; expected a secret in it`);
}
