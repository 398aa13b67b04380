import { join } from "node:path";
import { CoreError } from "../../core/errors.ts";
import type { ListenAddress } from "../../core/options/listen-address.ts";
import type { ValuesOf } from "../../core/options/option-spec.ts";
import { type IdentityFiles, identityFiles } from "../../mesh/identity-files.ts";
import type { MESH_OPTIONS } from "./mesh-options.ts";

/** Who this instance is for others, and who says so. */
export interface IdentityConfig {
  readonly manager: ListenAddress;
  /** NAMESPACE/NAME. */
  readonly service: string;
  readonly tokenFile: string;
  readonly files: IdentityFiles;
}

const FOLDER = "identity";

/** @throws CoreError ERR_CONFIG_INVALID where some of it is given and some is missing */
export function resolveIdentity(
  values: ValuesOf<typeof MESH_OPTIONS>,
  stateFolder: string | undefined,
): IdentityConfig | undefined {
  const { identityFrom: manager, identityService: service, identityTokenFile: tokenFile } = values;
  if (manager === undefined && service === undefined && tokenFile === undefined) return undefined;
  if (manager === undefined || service === undefined || tokenFile === undefined) {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      "identity: expected all of --identity-from, --identity-service and --identity-token-file, or none",
    );
  }
  if (stateFolder === undefined) {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      "--identity-from: is for portolan up, whose state folder keeps the certificate",
    );
  }
  const key = service.includes("/") ? service : `default/${service}`;
  return { manager, service: key, tokenFile, files: identityFiles(join(stateFolder, FOLDER)) };
}
