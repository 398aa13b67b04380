import { CoreError } from "../core/errors.ts";
import type { ValuesOf } from "../core/options/option-spec.ts";
import type { IdentityFiles } from "../mesh/identity-files.ts";
import type { ApiSourceSpec } from "./instance-deps.ts";
import type { API_CLIENT_OPTIONS, API_SERVER_OPTIONS } from "./options.ts";

export interface ServerTlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string;
}

export interface ClientTlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile: string;
}

/**
 * The TLS files of the API server; undefined: no TLS.
 * @throws CoreError ERR_CONFIG_INVALID where some are given and others missing
 */
export function serverTlsOf(
  values: ValuesOf<typeof API_SERVER_OPTIONS>,
): ServerTlsFiles | undefined {
  const { apiTlsCert: certFile, apiTlsKey: keyFile, apiTlsCa: clientCaFile } = values;
  if (certFile === undefined && keyFile === undefined && clientCaFile === undefined) {
    return undefined;
  }
  if (certFile === undefined || keyFile === undefined || clientCaFile === undefined) {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      "TLS of the API: expected all of --api-tls-cert, --api-tls-key and --api-tls-ca, or none",
    );
  }
  return { certFile, keyFile, clientCaFile };
}

/**
 * The TLS files for `--from api:`; undefined: no TLS.
 * @throws CoreError ERR_CONFIG_INVALID where some are given and others missing
 */
export function clientTlsOf(
  values: ValuesOf<typeof API_CLIENT_OPTIONS>,
): ClientTlsFiles | undefined {
  const { apiClientTlsCa: caFile, apiClientTlsCert: certFile, apiClientTlsKey: keyFile } = values;
  if (caFile === undefined && certFile === undefined && keyFile === undefined) return undefined;
  if (caFile === undefined || certFile === undefined || keyFile === undefined) {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      "TLS to the API: expected all of --api-client-tls-cert, --api-client-tls-key and --api-client-tls-ca, or none",
    );
  }
  return { certFile, keyFile, caFile };
}

/** What this instance can show to an API. */
export interface ApiCredentials {
  readonly values: ValuesOf<typeof API_CLIENT_OPTIONS>;
  /** Missing where it has none. */
  readonly identity?: IdentityFiles | undefined;
}

/**
 * The TLS files for one API; undefined: no TLS. What the options say is for all; where they say nothing an
 * identity is shown by TCP, as only a manager and those who trust its authority understand it, and a unix socket
 * is guarded by its folder. Who calls an API without TLS on purpose says so.
 */
export function apiTlsOf(
  { address, isPlain }: Pick<ApiSourceSpec, "address" | "isPlain">,
  { values, identity }: ApiCredentials,
): ClientTlsFiles | undefined {
  if (isPlain === true) return undefined;
  const given = clientTlsOf(values);
  if (given !== undefined || identity === undefined || address.kind === "unix") return given;
  const { certFile, keyFile, caFile } = identity;
  return { certFile, keyFile, caFile };
}
