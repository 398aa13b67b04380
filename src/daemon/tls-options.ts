import { CoreError } from "../core/errors.ts";
import type { ValuesOf } from "../core/options/option-spec.ts";
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
