import { readFileSync } from "node:fs";

/** The version of this package; the file is as far away from the sources as from the build. */
export function readVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const parsed: unknown = JSON.parse(text);
  const version =
    typeof parsed === "object" && parsed !== null && "version" in parsed && parsed.version;
  return typeof version === "string" ? version : "unknown";
}
