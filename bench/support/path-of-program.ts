import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Where a program is. @throws Error where it is in no folder of PATH */
export function pathOfProgram(name: string): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const path = folders.map((folder) => join(folder, name)).find((each) => existsSync(each));
  if (path === undefined) throw new Error(`there is no program ${name}`);
  return path;
}
