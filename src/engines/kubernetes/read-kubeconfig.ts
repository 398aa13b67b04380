import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { load } from "js-yaml";
import { CoreError, messageOf } from "../../core/errors.ts";
import { nearest, problemsError } from "../../core/model/problems.ts";
import { checkAgainst } from "../../core/model/zod-problems.ts";
import {
  type Kubeconfig,
  type KubeconfigCluster,
  type KubeconfigContextEntry,
  type KubeconfigUser,
  kubeconfigSchema,
} from "./kubeconfig-schema.ts";

/** An entry, and the folder that the files which it names are looked for in. */
interface Placed<T> {
  readonly entry: T;
  readonly folder: string;
}

/** One context of a kubeconfig, with the paths in it made whole. */
export interface KubeconfigContext {
  readonly name: string;
  readonly cluster: KubeconfigCluster;
  readonly user: KubeconfigUser;
  /** Makes a path of the cluster whole. */
  readonly clusterPath: (path: string) => string;
  /** The same for the user, who may stand in another file. */
  readonly userPath: (path: string) => string;
}

/**
 * Reads kubeconfigs as kubectl does: of several files the first that has a name wins.
 * @param context undefined: the current one
 * @throws CoreError ERR_CONFIG_INVALID with the file and all that is wrong with it
 */
export async function readKubeconfig(
  files: readonly string[],
  context: string | undefined,
): Promise<KubeconfigContext> {
  const merged: Merged = { clusters: new Map(), users: new Map(), contexts: new Map() };
  for (const file of files) merge(merged, await readFileOf(file), dirname(resolve(file)));
  const { clusters, users, contexts } = merged;
  const where = files.join(", ");
  const name = context ?? merged.current;
  if (name === undefined) {
    const expected = `--kube-context NAME, one of ${namesOf(contexts)}`;
    throw refused(`${where}: no current-context; expected ${expected}`);
  }
  const chosen = find(contexts, name, "context", where);
  const cluster = find(clusters, chosen.cluster, "cluster", where);
  const user = chosen.user === "" ? NOBODY : find(users, chosen.user, "user", where);
  return {
    name,
    cluster: cluster.entry,
    user: user.entry,
    clusterPath: (path) => resolve(cluster.folder, path),
    userPath: (path) => resolve(user.folder, path),
  };
}

interface Merged {
  readonly clusters: Map<string, Placed<KubeconfigCluster>>;
  readonly users: Map<string, Placed<KubeconfigUser>>;
  readonly contexts: Map<string, KubeconfigContextEntry>;
  current?: string | undefined;
}

const NOBODY: Placed<KubeconfigUser> = { entry: {}, folder: "" };

function merge(into: Merged, config: Kubeconfig, folder: string): void {
  into.current ??= config["current-context"] || undefined;
  for (const { name, cluster } of config.clusters ?? []) {
    addFirst(into.clusters, name, { entry: cluster, folder });
  }
  for (const { name, user } of config.users ?? []) {
    addFirst(into.users, name, { entry: user ?? {}, folder });
  }
  for (const { name, context } of config.contexts ?? []) addFirst(into.contexts, name, context);
}

function addFirst<T>(entries: Map<string, T>, name: string, entry: T): void {
  if (!entries.has(name)) entries.set(name, entry);
}

async function readFileOf(file: string): Promise<Kubeconfig> {
  let raw: unknown;
  try {
    raw = load(await readFile(file, "utf8"));
  } catch (cause) {
    const reason = messageOf(cause);
    throw new CoreError("ERR_CONFIG_INVALID", `${file}: ${reason}`, { cause });
  }
  const checked = checkAgainst(kubeconfigSchema, raw ?? {});
  if (checked.ok) return checked.value;
  const problems = checked.problems.map((problem) => ({ ...problem, location: file }));
  throw problemsError("ERR_CONFIG_INVALID", problems);
}

function find<T>(entries: ReadonlyMap<string, T>, name: string, what: string, where: string): T {
  const entry = entries.get(name);
  if (entry !== undefined) return entry;
  const near = nearest(name, [...entries.keys()]);
  const expected = near === undefined ? `one of ${namesOf(entries)}` : `"${near}"?`;
  throw refused(`${where}: there is no ${what} "${name}"; expected ${expected}`);
}

function namesOf(entries: ReadonlyMap<string, unknown>): string {
  return entries.size === 0 ? "(there are none)" : [...entries.keys()].join(", ");
}

function refused(message: string): CoreError {
  return new CoreError("ERR_CONFIG_INVALID", message);
}
