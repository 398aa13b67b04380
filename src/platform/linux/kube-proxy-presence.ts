import { readdir, readFile, readlink } from "node:fs/promises";
import { CoreError } from "../../core/errors.ts";

/** Looks for a kube-proxy that lives; undefined where there is none, else what was seen. */
export type FindKubeProxy = () => Promise<string | undefined>;

const PROGRAM = "kube-proxy";
/** Where it tells its mode (`--metrics-bind-address`), in this network namespace like its rules. */
const MODE_URL = "http://127.0.0.1:10249/proxyMode";
const ANSWER_TIMEOUT_MS = 500;
const MODES: readonly string[] = ["iptables", "ipvs", "nftables"];

/**
 * Its chains tell nothing: they outlive it. So a process of its name in this network namespace counts,
 * or, where its processes can not be seen, one that answers what mode it is in.
 */
export async function findKubeProxy(modeUrl: string = MODE_URL): Promise<string | undefined> {
  return (await findProcess()) ?? (await askForMode(modeUrl));
}

async function findProcess(): Promise<string | undefined> {
  const own = await readlink("/proc/self/ns/net").catch(() => undefined);
  const names = await readdir("/proc").catch(() => []);
  for (const pid of names.filter((name) => /^\d+$/.test(name))) {
    const name = await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "");
    if (name.trim() !== PROGRAM) continue;
    const namespace = await readlink(`/proc/${pid}/ns/net`).catch(() => undefined);
    if (namespace === own) return `pid ${pid}`;
  }
  return undefined;
}

async function askForMode(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    // An instance of ours that stands in for one says who it is; its own lock tells of it.
    if (response.headers.get("server") === "portolan") return undefined;
    const mode = (await response.text()).trim();
    return MODES.includes(mode) ? `it answers "${mode}" on ${url}` : undefined;
  } catch {
    return undefined;
  }
}

/** @throws CoreError ERR_NOT_POSSIBLE_HERE where one lives */
export async function refuseKubeProxy(find: FindKubeProxy): Promise<void> {
  const seen = await find();
  if (seen === undefined) return;
  throw new CoreError(
    "ERR_NOT_POSSIBLE_HERE",
    `kube-proxy runs here (${seen}) and serves the same services; stop it first, or give --take-over where it is about to stop`,
  );
}
