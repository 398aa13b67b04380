import type { ValuesOf } from "../core/options/option-spec.ts";
import type { IdentityFiles } from "../mesh/identity-files.ts";
import type { Source } from "../sources/source.ts";
import type { EtcdAccess } from "./etcd-access.ts";
import type { InstanceDeps } from "./instance-deps.ts";
import type { KUBE_OPTIONS } from "./kube-options.ts";
import type { API_CLIENT_OPTIONS, FILE_OPTIONS } from "./options.ts";
import type { SourceSpec } from "./source-spec.ts";
import { apiTlsOf } from "./tls-options.ts";

export type SourceValues = ValuesOf<typeof FILE_OPTIONS> &
  ValuesOf<typeof KUBE_OPTIONS> &
  ValuesOf<typeof API_CLIENT_OPTIONS>;

export interface SourceWorld extends Pick<InstanceDeps, "random" | "sleep"> {
  /** The only node that is of interest; undefined: all are. */
  readonly node: string | undefined;
  /** How an etcd is asked; there where a source is one. */
  readonly etcd?: EtcdAccess | undefined;
  /** Who this instance is for an API; missing where it has no identity. */
  readonly identity?: IdentityFiles | undefined;
}

/** Makes the source that a spec means; only its own code is loaded. */
export async function createSource(
  spec: SourceSpec,
  values: SourceValues,
  { node, etcd, identity, ...world }: SourceWorld,
): Promise<Source> {
  const { owner } = spec;
  switch (spec.kind) {
    case "given": {
      const { createGivenSource } = await import("../sources/given/given-source.ts");
      return createGivenSource({ owner, objects: spec.objects });
    }
    case "manager": {
      const { createOwnSource } = await import("./manager/own-source.ts");
      return createOwnSource(owner);
    }
    case "file": {
      const { createFileSource } = await import("../sources/file/file-source.ts");
      return createFileSource({ owner, path: spec.path, maxFileBytes: values.maxFileBytes });
    }
    case "kube": {
      const { openKubeSource } = await import("./open-kube-source.ts");
      return openKubeSource(spec, values, { node, ...world });
    }
    case "etcd": {
      if (etcd === undefined) throw new TypeError("it was not resolved how etcd is asked");
      const { createEtcdSource } = await import("../sources/etcd/etcd-source.ts");
      return createEtcdSource({ owner, members: spec.members, ...etcd, ...world });
    }
    case "api": {
      const { createApiSource } = await import("../sources/api/api-source.ts");
      const tls = apiTlsOf(spec, { values, identity });
      return createApiSource({ owner, address: spec.address, tls, ...world });
    }
  }
}
