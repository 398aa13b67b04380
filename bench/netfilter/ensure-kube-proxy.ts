import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import * as z from "zod";

const KUBERNETES = "v1.36.3";
/** The modules that Kubernetes is made from have the same version with a 0 in front. */
const STAGING = KUBERNETES.replace(/^v1/, "v0");
const MODULE = "k8s.io/kubernetes";
const GO = "go";
const TIME_LIMIT_MS = 15 * 60_000;
const KEPT_LINES = 5;
/** Its own go.mod has paths of its repository in their place, which nobody else can use. */
const STAGED = /^\s*(?:replace )?(k8s\.io\/[a-z0-9-]+) => \.\/staging\//gm;

const downloadSchema = z.object({ GoMod: z.string() });

/**
 * kube-proxy, built from its published Go module into the user's cache unless it is there already.
 * @param tell what is being done
 * @returns the path of the program
 * @throws Error that says which step failed, and what Go said
 */
export async function ensureKubeProxy(tell: (text: string) => void): Promise<string> {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const folder = join(cache, "portolan", `kube-proxy-${KUBERNETES}`);
  const program = join(folder, "kube-proxy");
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  const go = (step: string, ...args: readonly string[]) => runGo(step, args, folder);
  await go("looking for Go", "version");
  // Where there is no module yet, go.mod's answers would not be believed.
  writeFileSync(join(folder, "go.mod"), "module portolan.bench/kube-proxy\n");
  const download = await go(
    "fetching its module",
    "mod",
    "download",
    "-json",
    `${MODULE}@${KUBERNETES}`,
  );
  const { GoMod } = downloadSchema.parse(JSON.parse(download));
  writeFileSync(join(folder, "go.mod"), goModFor(readFileSync(GoMod, "utf8")));
  tell("kube-proxy: go build, which takes minutes");
  const made = `${program}.new`;
  const flags = ["-trimpath", "-ldflags", "-s -w", "-o", made];
  await go("building it", "build", ...flags, `${MODULE}/cmd/kube-proxy`);
  renameSync(made, program);
  return program;
}

/** A module that needs Kubernetes, with the modules that its own go.mod has in its repository. */
export function goModFor(kubernetes: string): string {
  const version = /^go .*$/m.exec(kubernetes)?.[0] ?? "";
  const staged = [...kubernetes.matchAll(STAGED)].map(([, name = ""]) => name);
  return [
    "module portolan.bench/kube-proxy",
    version,
    `require ${MODULE} ${KUBERNETES}`,
    ...staged.map((name) => `replace ${name} => ${name} ${STAGING}`),
    "",
  ].join("\n");
}

function runGo(step: string, args: readonly string[], cwd: string): Promise<string> {
  const fail = (why: string): Error =>
    new Error(`--kube-proxy: ${step} failed (go ${args.join(" ")}): ${why}`);
  return new Promise((resolve, reject) => {
    const env = { ...process.env, GOFLAGS: "-mod=mod -buildvcs=false", CGO_ENABLED: "0" };
    const child = spawn(GO, args, { cwd, env, timeout: TIME_LIMIT_MS });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.on("error", (error) => {
      const isMissing = "code" in error && error.code === "ENOENT";
      reject(fail(isMissing ? "there is no program go; install Go" : error.message));
    });
    child.on("close", (code, signal) => {
      if (code === 0) return resolve(stdout);
      const last = stderr.trim().split("\n").slice(-KEPT_LINES).join("\n  ");
      const how =
        signal === null ? `exit code ${code}` : `ended after ${TIME_LIMIT_MS / 60_000} minutes`;
      reject(fail(`${how}\n  ${last}`));
    });
  });
}
