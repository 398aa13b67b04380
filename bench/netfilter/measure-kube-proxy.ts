import { numbersFrom } from "../support/results.ts";
import type { Namespace } from "./namespaces.ts";

const TASK = new URL("./tasks/kube-proxy.js", import.meta.url);
const NUMBERS = ["firstMs", "cpuMs", "residentMegabytes"] as const;

export interface KubeProxyRun {
  readonly namespace: Namespace;
  /** Path of kube-proxy. */
  readonly program: string;
  readonly mode: "nftables" | "iptables";
  /** A `List` of manifests. */
  readonly file: string;
  readonly node: string;
}

/** What kube-proxy itself says that its first syncs of a state took. */
export async function measureKubeProxy({
  namespace,
  program,
  mode,
  file,
  node,
}: KubeProxyRun): Promise<Readonly<Record<(typeof NUMBERS)[number], number>>> {
  return numbersFrom(await namespace.runTask(TASK, [program, mode, file, node]), NUMBERS);
}
