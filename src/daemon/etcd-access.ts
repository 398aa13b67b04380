import { CoreError } from "../core/errors.ts";
import type { ValuesOf } from "../core/options/option-spec.ts";
import type { EtcdTarget } from "../engines/etcd/etcd-options.ts";
import { readSecret } from "./control-config.ts";
import type { ETCD_OPTIONS } from "./options.ts";
import type { SourceSpec } from "./source-spec.ts";

type EtcdValues = ValuesOf<typeof ETCD_OPTIONS>;

/** How an etcd is asked, and what for. */
export interface EtcdAccess extends Pick<EtcdTarget, "tls" | "credentials"> {
  readonly prefix: string;
  readonly maxObjects: number;
  readonly maxObjectBytes: number;
}

const PASSWORD = "PORTOLAN_ETCD_PASSWORD";

/** @throws CoreError ERR_CONFIG_INVALID, ERR_USAGE */
export async function resolveEtcdAccess(
  values: EtcdValues,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<EtcdAccess> {
  const { etcdPrefix: prefix, etcdUser: user, etcdMaxObjects, etcdMaxObjectBytes } = values;
  if (prefix === "") {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      '--etcd-prefix: empty; expected such as "/portolan/"',
    );
  }
  const file = { option: "--etcd-password-file", path: values.etcdPasswordFile };
  const password = await readSecret(file, PASSWORD, environment);
  if ((user === undefined) !== (password === undefined)) {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      `etcd: expected both --etcd-user and its password (--etcd-password-file or ${PASSWORD}), or neither`,
    );
  }
  return {
    prefix,
    maxObjects: etcdMaxObjects,
    maxObjectBytes: etcdMaxObjectBytes,
    tls: tlsOf(values),
    credentials: user === undefined || password === undefined ? undefined : { user, password },
  };
}

/** The same where one of the sources is an etcd, or the manager keeps its state in one. */
export async function etcdAccessFor(
  sources: readonly SourceSpec[],
  manager: { readonly etcd: unknown } | undefined,
  values: EtcdValues,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<EtcdAccess | undefined> {
  const isWanted = manager?.etcd !== undefined || sources.some((source) => source.kind === "etcd");
  return isWanted ? resolveEtcdAccess(values, environment) : undefined;
}

function tlsOf(values: EtcdValues): EtcdTarget["tls"] {
  const { etcdTls, etcdTlsCa: caFile, etcdTlsCert: certFile, etcdTlsKey: keyFile } = values;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      "TLS to etcd: expected both --etcd-tls-cert and --etcd-tls-key, or neither",
    );
  }
  const isWanted = etcdTls || caFile !== undefined || certFile !== undefined;
  return isWanted ? { caFile, certFile, keyFile } : undefined;
}
