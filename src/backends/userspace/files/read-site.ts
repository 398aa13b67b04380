import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { CoreError } from "../../../core/errors.ts";
import type { SitePage } from "../../../proxy/engine-config.ts";

/** All pages are in memory, in each loop. */
const MAX_SITE_BYTES = 16_777_216;
const MAX_PAGES = 1000;
const MAX_DEPTH = 16;

const TYPES: ReadonlyMap<string, string> = new Map([
  [".html", "text/html; charset=utf-8"],
  [".htm", "text/html; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".mjs", "text/javascript; charset=utf-8"],
  [".json", "application/json"],
  [".txt", "text/plain; charset=utf-8"],
  [".xml", "application/xml"],
  [".svg", "image/svg+xml"],
  [".png", "image/png"],
  [".jpg", "image/jpeg"],
  [".jpeg", "image/jpeg"],
  [".gif", "image/gif"],
  [".webp", "image/webp"],
  [".ico", "image/vnd.microsoft.icon"],
  [".woff2", "font/woff2"],
  [".pdf", "application/pdf"],
]);

/**
 * The files below a folder by the paths that browsers ask for. Hidden ones are left out, and links are
 * not followed: only what lies in the folder is shown.
 * @throws CoreError ERR_CONFIG_INVALID where it is too much
 */
export async function readSite(folder: string): Promise<ReadonlyMap<string, SitePage>> {
  const pages = new Map<string, SitePage>();
  let left = MAX_SITE_BYTES;
  for (const path of await filesIn(folder, "/", 0)) {
    left -= (await stat(join(folder, path))).size;
    if (left < 0 || pages.size === MAX_PAGES) throw tooMuch();
    const body = await readFile(join(folder, path));
    pages.set(path, { type: typeOf(path), body: new Uint8Array(body) });
  }
  return pages;
}

async function filesIn(folder: string, path: string, depth: number): Promise<readonly string[]> {
  const files: string[] = [];
  for (const entry of await readdir(join(folder, path), { withFileTypes: true })) {
    if (entry.name.startsWith(".")) continue;
    const inside = `${path}${entry.name}`;
    if (entry.isFile()) files.push(inside);
    else if (entry.isDirectory() && depth < MAX_DEPTH) {
      files.push(...(await filesIn(folder, `${inside}/`, depth + 1)));
    }
  }
  return files;
}

function typeOf(name: string): string {
  return TYPES.get(extname(name).toLowerCase()) ?? "application/octet-stream";
}

function tooMuch(): CoreError {
  return new CoreError(
    "ERR_CONFIG_INVALID",
    `it holds more than ${MAX_PAGES} files or ${MAX_SITE_BYTES} bytes, which are kept in memory`,
  );
}
