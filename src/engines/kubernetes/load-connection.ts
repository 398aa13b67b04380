import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { CoreError } from "../../core/errors.ts";
import type { Exec } from "../../platform/linux/exec.ts";
import { type CredentialSource, createPlainCredentials } from "./credentials.ts";
import { createExecCredentials, type ExecPlugin } from "./exec-credentials.ts";
import type { KubeConnection, Pem } from "./kube-connection.ts";
import type { KubeconfigExec } from "./kubeconfig-schema.ts";
import { type KubeconfigContext, readKubeconfig } from "./read-kubeconfig.ts";

export interface ConnectionOptions {
  /** Undefined: `KUBECONFIG`, then the service account of the pod, then the file of the user. */
  readonly kubeconfig: string | undefined;
  /** Undefined: the current one. */
  readonly context: string | undefined;
  /** URLs in place of the one that the kubeconfig or the pod says; empty: that one. */
  readonly servers: readonly string[];
}

/** What it takes from the world; tests give their own. */
export interface ConnectionWorld {
  readonly exec: Exec;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly homeFolder: string;
  readonly nowMs: () => number;
  /** Where a pod finds its service account. */
  readonly serviceAccountFolder?: string;
}

const SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * Finds out where the cluster is and who this program is to it.
 * @throws CoreError ERR_CONFIG_INVALID
 */
export async function loadConnection(
  options: ConnectionOptions,
  world: ConnectionWorld,
): Promise<KubeConnection> {
  const connection = await findConnection(options, world);
  if (options.servers.length === 0) return connection;
  return {
    ...connection,
    servers: options.servers.map((text) => parseServer(text, "--kube-server")),
  };
}

async function findConnection(
  { kubeconfig, context, servers }: ConnectionOptions,
  world: ConnectionWorld,
): Promise<KubeConnection> {
  const { environment, homeFolder } = world;
  const given = kubeconfig ?? (environment["KUBECONFIG"] || undefined);
  if (given !== undefined) return fromKubeconfig(given.split(delimiter), context, world);
  if (context === undefined) {
    const inCluster = await fromPod(world);
    if (inCluster !== undefined) return inCluster;
  }
  const ofUser = join(homeFolder, ".kube", "config");
  if (await exists(ofUser)) return fromKubeconfig([ofUser], context, world);
  if (servers.length > 0) return anonymous();
  throw new CoreError(
    "ERR_CONFIG_INVALID",
    `no way to a cluster: no --kubeconfig, no KUBECONFIG, no service account of a pod, and no ${ofUser}; expected one of them, or --kube-server URL`,
  );
}

/** Who knows only where the server is: `kubectl proxy`, or one that asks nobody who he is. */
function anonymous(): KubeConnection {
  return {
    name: "without credentials",
    servers: [],
    ca: undefined,
    serverName: undefined,
    isInsecure: false,
    credentials: createPlainCredentials({}),
  };
}

/** Undefined where this is no pod, or one without a service account. */
async function fromPod({
  environment,
  serviceAccountFolder = SERVICE_ACCOUNT_FOLDER,
}: ConnectionWorld): Promise<KubeConnection | undefined> {
  const host = environment["KUBERNETES_SERVICE_HOST"] ?? "";
  const port = environment["KUBERNETES_SERVICE_PORT"] ?? "443";
  const tokenFile = join(serviceAccountFolder, "token");
  if (host === "" || !(await exists(tokenFile))) return undefined;
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    name: "the service account of this pod",
    servers: [parseServer(`https://${name}:${port}`, "KUBERNETES_SERVICE_HOST")],
    ca: { kind: "file", path: join(serviceAccountFolder, "ca.crt") },
    serverName: undefined,
    isInsecure: false,
    credentials: createPlainCredentials({ tokenFile }),
  };
}

async function fromKubeconfig(
  paths: readonly string[],
  wanted: string | undefined,
  world: ConnectionWorld,
): Promise<KubeConnection> {
  const files = paths.filter((path) => path !== "");
  const context = await readKubeconfig(files, wanted);
  const { cluster } = context;
  if (cluster["proxy-url"] !== undefined) throw notSupported("clusters[].cluster.proxy-url");
  return {
    name: `context ${context.name}`,
    servers: [parseServer(cluster.server, `${files.join(", ")}: server`)],
    ca: pemOf(
      cluster["certificate-authority-data"],
      cluster["certificate-authority"],
      context.clusterPath,
    ),
    serverName: cluster["tls-server-name"],
    isInsecure: cluster["insecure-skip-tls-verify"] ?? false,
    credentials: credentialsOf(context, world),
  };
}

function credentialsOf(context: KubeconfigContext, world: ConnectionWorld): CredentialSource {
  const { user, userPath } = context;
  for (const key of ["auth-provider", "as", "as-groups", "as-uid"]) {
    if ((user[key] ?? undefined) !== undefined) throw notSupported(`users[].user.${key}`);
  }
  if (user.exec !== undefined && user.exec !== null) {
    return createExecCredentials(pluginOf(user.exec, context), world);
  }
  const cert = pemOf(user["client-certificate-data"], user["client-certificate"], userPath);
  const key = pemOf(user["client-key-data"], user["client-key"], userPath);
  if ((cert === undefined) !== (key === undefined)) {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      `context ${context.name}: expected both client-certificate and client-key, or none`,
    );
  }
  const { username, password = "", token, tokenFile } = user;
  return createPlainCredentials({
    ...(token !== undefined && { token }),
    ...(tokenFile !== undefined && { tokenFile: userPath(tokenFile) }),
    ...(username !== undefined && { basic: { username, password } }),
    ...(cert !== undefined && key !== undefined && { certificate: { cert, key } }),
  });
}

function pluginOf(exec: KubeconfigExec, { cluster, userPath }: KubeconfigContext): ExecPlugin {
  const { apiVersion, command, installHint = "" } = exec;
  return {
    apiVersion,
    // A command without a folder is looked for in the path, as kubectl does.
    command: command.includes("/") ? userPath(command) : command,
    args: exec.args ?? [],
    env: Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value])),
    installHint,
    ...(exec.provideClusterInfo === true && { cluster }),
  };
}

function pemOf(
  data: string | undefined,
  file: string | undefined,
  whole: (path: string) => string,
): Pem | undefined {
  if (data !== undefined && data !== "") {
    return { kind: "text", text: Buffer.from(data, "base64").toString("utf8") };
  }
  return file === undefined || file === "" ? undefined : { kind: "file", path: whole(file) };
}

function parseServer(text: string, where: string): URL {
  // kubectl takes an address without a scheme for a plain one.
  const whole = /^https?:\/\//.test(text) ? text : `http://${text}`;
  if (URL.canParse(whole)) return new URL(whole);
  throw new CoreError(
    "ERR_CONFIG_INVALID",
    `${where}: "${text}" is not valid; expected a URL such as https://10.0.0.1:6443`,
  );
}

function notSupported(field: string): CoreError {
  return new CoreError(
    "ERR_CONFIG_INVALID",
    `kubeconfig: ${field} is not supported; expected a token, a certificate or exec, and a server that is reached directly`,
  );
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
