import { existsSync } from "node:fs";
import type { CoreError } from "../../core/errors.ts";
import { invalid, problemsError } from "../../core/model/problems.ts";
import {
  createNamedNamespace,
  NAMESPACE_NAME,
  namedNamespacePath,
} from "../../platform/linux/named-namespace.ts";
import { NetworkNamespace } from "../../platform/linux/network-namespace.ts";
import type { ContainerEngine } from "./container-engine.ts";
import type { FoundNamespace } from "./workload.ts";

/** Finds the network namespace that a `containerId` means. @throws CoreError ERR_USAGE with the field */
export type FindNamespace = (containerId: string) => Promise<FoundNamespace>;

const NETNS = "netns:";
const DIGITS = /^\d+$/;
/** The kernel gives no higher pid; a longer number is the id of a container. */
const MAX_PID = 4_194_304;

/** A pid, `netns:NAME` (made where it is missing), or what an engine knows a container by. */
export function createFindNamespace(engine: ContainerEngine): FindNamespace {
  return async (containerId) => {
    if (containerId.startsWith(NETNS)) return findNamed(containerId);
    if (DIGITS.test(containerId) && Number(containerId) <= MAX_PID) {
      return findOfProcess(containerId, Number(containerId), "the pid of a process that runs");
    }
    const pid = await engine.pidOf(containerId);
    if (pid === undefined) throw refuse(containerId, "a pid, netns:NAME, or a container");
    return findOfProcess(containerId, pid, "a container that runs");
  };
}

function findNamed(containerId: string): FoundNamespace {
  const name = containerId.slice(NETNS.length);
  if (!NAMESPACE_NAME.test(name)) {
    throw refuse(containerId, "netns: and 1 to 64 letters, digits, dots, - and _");
  }
  const path = namedNamespacePath(name);
  const isMade = !existsSync(path);
  if (isMade) createNamedNamespace(name);
  return lookAt(containerId, path, { expected: "a network namespace", madeAs: isMade ? name : "" });
}

function findOfProcess(containerId: string, pid: number, expected: string): FoundNamespace {
  if (pid === 0) throw refuse(containerId, expected);
  return lookAt(containerId, `/proc/${pid}/ns/net`, { expected, madeAs: "" });
}

function lookAt(
  containerId: string,
  path: string,
  { expected, madeAs }: { readonly expected: string; readonly madeAs: string },
): FoundNamespace {
  const id = idOf(path);
  const own = idOf("/proc/self/ns/net");
  // All namespaces are on one device: what a crash left of `ip netns add` is a plain file.
  if (id === undefined || deviceOf(id) !== deviceOf(own)) throw refuse(containerId, expected);
  if (id === own) {
    throw refuse(
      containerId,
      `${expected}, with a network of its own and not that of this machine`,
    );
  }
  return { path, id, madeAs };
}

function deviceOf(id: string | undefined): string | undefined {
  return id?.split(":", 1)[0];
}

function idOf(path: string): string | undefined {
  let namespace: NetworkNamespace;
  try {
    namespace = NetworkNamespace.open(path);
  } catch {
    return undefined;
  }
  try {
    return namespace.id;
  } finally {
    namespace.close();
  }
}

function refuse(containerId: string, expected: string): CoreError {
  return problemsError("ERR_USAGE", [invalid(["containerId"], containerId, expected)]);
}
