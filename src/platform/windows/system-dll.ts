import { win32 } from "node:path";

/** System DLLs are loaded by their whole path: nothing beside the program can take their place. */
export function systemDll(name: string): string {
  return win32.join(process.env["SystemRoot"] ?? "C:\\Windows", "System32", name);
}

export function computeNetworkPath(): string {
  return systemDll("computenetwork.dll");
}
