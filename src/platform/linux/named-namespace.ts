import { closeSync, existsSync, mkdirSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ERRNO } from "../errno.ts";
import { bindCall, failure } from "./binding.ts";
import { allocateNative } from "./native-memory.ts";
import { NetworkNamespace } from "./network-namespace.ts";
import { checked } from "./system-error.ts";

/** Where `ip netns` keeps them, so that both see the same ones. */
const FOLDER = "/run/netns";
const OWN_NAMESPACE = "/proc/thread-self/ns/net";
/** mount(2), umount2(2). */
const MS_BIND = 0x1000;
const MS_REC = 0x4000;
const MS_SHARED = 0x10_0000;
const MNT_DETACH = 2;
/** For nobody: it is only there to be mounted on. */
const NO_ACCESS = 0o000;

const cMount = bindCall<[number, number, number, number, number]>(
  "int mount(uintptr_t, uintptr_t, uintptr_t, ulong, uintptr_t)",
);
const cUmount2 = bindCall<[number, number]>("int umount2(uintptr_t, int)");

/** What a namespace may be called: no path, and nothing that a shell or `ip` reads otherwise. */
export const NAMESPACE_NAME: RegExp = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export function namedNamespacePath(name: string): string {
  return join(FOLDER, name);
}

/** Makes a network namespace that stays until it is removed, as `ip netns add`. Needs root. @throws CoreError ERR_SYSTEM_CALL */
export function createNamedNamespace(name: string): void {
  shareFolder();
  const path = namedNamespacePath(name);
  closeSync(openSync(path, "wx", NO_ACCESS));
  try {
    NetworkNamespace.create(() => mount(OWN_NAMESPACE, path, MS_BIND)).close();
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

/** Its name goes at once, it itself when nobody is in it any more. Succeeds where it is not there. */
export function removeNamedNamespace(name: string): void {
  const path = namedNamespacePath(name);
  if (!existsSync(path)) return;
  const result = cUmount2(textAddress(path).address, MNT_DETACH) < 0 ? failure() : 0;
  if (result !== -ERRNO.EINVAL) checked("umount2", result, path);
  rmSync(path, { force: true });
}

/** Whoever has a view of the file system of its own sees what is mounted here later. */
function shareFolder(): void {
  mkdirSync(FOLDER, { recursive: true, mode: 0o755 });
  const share = () => tryMount("none", FOLDER, MS_SHARED | MS_REC);
  const result = share();
  if (result === 0) return;
  if (result !== -ERRNO.EINVAL) checked("mount", result, FOLDER);
  mount(FOLDER, FOLDER, MS_BIND | MS_REC);
  checked("mount", share(), FOLDER);
}

function mount(source: string, target: string, flags: number): void {
  checked("mount", tryMount(source, target, flags), target);
}

function tryMount(source: string, target: string, flags: number): number {
  const none = textAddress("none");
  const from = textAddress(source);
  const to = textAddress(target);
  return cMount(from.address, to.address, none.address, flags, 0) < 0 ? failure() : 0;
}

/** The memory has to be held as long as the call lasts. */
function textAddress(text: string): ReturnType<typeof allocateNative> {
  const bytes = new TextEncoder().encode(`${text}\0`);
  const memory = allocateNative(bytes.length);
  memory.bytes.set(bytes);
  return memory;
}
