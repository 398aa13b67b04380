import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import * as z from "zod";

const KUBERNETES = "v1.36.3";
/** The modules that Kubernetes is made from have the same version with a 0 in front. */
const STAGING = KUBERNETES.replace(/^v1/, "v0");
const MODULE = "k8s.io/kubernetes";
const HELM = "v3.18.4";
const HELM_PACKAGE = "helm.sh/helm/v3/cmd/helm";
const GO = "go";
const TIME_LIMIT_MS = 30 * 60_000;
const KEPT_LINES = 5;
/** Its own go.mod has paths of its repository in their place, which nobody else can use. */
const STAGED = /^\s*(?:replace )?(k8s\.io\/[a-z0-9-]+) => \.\/staging\//gm;

const downloadSchema = z.object({ GoMod: z.string() });

export type KubernetesProgram = "kube-proxy" | "kube-apiserver";

type Tell = (text: string) => void;

/**
 * A program of Kubernetes, built from its published Go module into the user's cache unless it is there
 * already.
 * @param tell what is being done
 * @returns the path of the program
 * @throws Error that says which step failed, and what Go said
 */
export async function ensureKubernetes(name: KubernetesProgram, tell: Tell): Promise<string> {
  const folder = cacheFolder(`${name}-${KUBERNETES}`);
  const program = join(folder, name);
  if (existsSync(program)) return program;
  const go = (step: string, ...args: readonly string[]) =>
    runGo(`${name}: ${step}`, args, { cwd: folder });
  await go("looking for Go", "version");
  // Where there is no module yet, go.mod's answers would not be believed.
  writeFileSync(join(folder, "go.mod"), "module portolan.bench/kubernetes\n");
  const download = await go(
    "fetching its module",
    "mod",
    "download",
    "-json",
    `${MODULE}@${KUBERNETES}`,
  );
  const { GoMod } = downloadSchema.parse(JSON.parse(download));
  writeFileSync(join(folder, "go.mod"), goModFor(readFileSync(GoMod, "utf8")));
  tell(`${name}: go build, which takes minutes`);
  const made = `${program}.new`;
  const flags = ["-trimpath", "-ldflags", "-s -w", "-o", made];
  await go("building it", "build", ...flags, `${MODULE}/cmd/${name}`);
  renameSync(made, program);
  return program;
}

/** The same for helm. */
export async function ensureHelm(tell: Tell): Promise<string> {
  const folder = cacheFolder(`helm-${HELM}`);
  const program = join(folder, "helm");
  if (existsSync(program)) return program;
  tell("helm: go install, which takes minutes");
  const env = { GOBIN: folder, GOFLAGS: "-buildvcs=false" };
  await runGo("helm: building it", ["install", `${HELM_PACKAGE}@${HELM}`], { cwd: folder, env });
  return program;
}

function cacheFolder(name: string): string {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const folder = join(cache, "portolan", name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** A module that needs Kubernetes, with the modules that its own go.mod has in its repository. */
export function goModFor(kubernetes: string): string {
  const version = /^go .*$/m.exec(kubernetes)?.[0] ?? "";
  const staged = [...kubernetes.matchAll(STAGED)].map(([, name = ""]) => name);
  return [
    "module portolan.bench/kubernetes",
    version,
    `require ${MODULE} ${KUBERNETES}`,
    ...staged.map((name) => `replace ${name} => ${name} ${STAGING}`),
    "",
  ].join("\n");
}

function runGo(
  step: string,
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<string> {
  const fail = (why: string): Error => new Error(`${step} failed (go ${args.join(" ")}): ${why}`);
  return new Promise((resolve, reject) => {
    const own = { GOFLAGS: "-mod=mod -buildvcs=false", CGO_ENABLED: "0", ...env };
    const child = spawn(GO, args, {
      cwd,
      env: { ...process.env, ...own },
      timeout: TIME_LIMIT_MS,
    });
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
