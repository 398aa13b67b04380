import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Exec } from "../../platform/linux/exec.ts";
import { type ConnectionOptions, type ConnectionWorld, loadConnection } from "./load-connection.ts";

const NOTHING: ConnectionOptions = { kubeconfig: undefined, context: undefined, servers: [] };

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-kube-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

function worldOf(folder: string, more: Partial<ConnectionWorld> = {}): ConnectionWorld {
  const exec: Exec = { run: () => Promise.reject(new Error("no program in this test")) };
  return {
    exec,
    environment: {},
    homeFolder: folder,
    nowMs: () => 0,
    serviceAccountFolder: join(folder, "account"),
    ...more,
  };
}

const base64 = (text: string) => Buffer.from(text).toString("base64");

const KUBECONFIG = `
apiVersion: v1
kind: Config
current-context: dev
clusters:
- name: one
  cluster: { server: "https://one.example:6443", certificate-authority: ca.pem, tls-server-name: kube }
- name: two
  cluster: { server: "https://[fd00::1]:6443/prefix", insecure-skip-tls-verify: true }
users:
- name: with-token
  user: { tokenFile: token }
- name: with-certificate
  user: { client-certificate-data: ${base64("CERT")}, client-key-data: ${base64("KEY")} }
- name: half
  user: { client-certificate-data: ${base64("CERT")} }
- name: old
  user: { auth-provider: { name: gcp } }
contexts:
- name: dev
  context: { cluster: one, user: with-token }
- name: prod
  context: { cluster: two, user: with-certificate }
- name: half
  context: { cluster: one, user: half }
- name: old
  context: { cluster: one, user: old }
- name: nobody
  context: { cluster: one, user: missing }
`;

async function writeKubeconfig(folder: string, text = KUBECONFIG): Promise<string> {
  const file = join(folder, "kubeconfig");
  await writeFile(file, text);
  return file;
}

test("the current context, with files beside the kubeconfig; a rotated token is taken up", async () => {
  const folder = await createFolder();
  const kubeconfig = await writeKubeconfig(folder);
  await writeFile(join(folder, "token"), "first\n");
  const connection = await loadConnection({ ...NOTHING, kubeconfig }, worldOf("/nowhere"));
  expect(connection).toMatchObject({
    name: "context dev",
    ca: { kind: "file", path: join(folder, "ca.pem") },
    serverName: "kube",
    isInsecure: false,
  });
  expect(connection.servers.map(String)).toEqual(["https://one.example:6443/"]);
  expect(await connection.credentials.read()).toEqual({ authorization: "Bearer first" });
  await writeFile(join(folder, "token"), "second");
  expect(await connection.credentials.read()).toEqual({ authorization: "Bearer second" });
});

test("another context, with a certificate and other servers", async () => {
  const kubeconfig = await writeKubeconfig(await createFolder());
  const connection = await loadConnection(
    { kubeconfig, context: "prod", servers: ["https://a:1", "https://b:2"] },
    worldOf("/nowhere"),
  );
  expect(connection.isInsecure).toBe(true);
  expect(connection.servers.map(({ host }) => host)).toEqual(["a:1", "b:2"]);
  expect(await connection.credentials.read()).toEqual({ cert: "CERT", key: "KEY" });
});

test("KUBECONFIG names several files: the first that has a name wins", async () => {
  const folder = await createFolder();
  const first = join(folder, "first");
  await writeFile(
    first,
    'clusters: [{ name: one, cluster: { server: "http://first:8080" } }]\nusers: [{ name: with-token, user: { token: t } }]\n',
  );
  const second = await writeKubeconfig(folder);
  const environment = { KUBECONFIG: `${first}:${second}` };
  const connection = await loadConnection(NOTHING, worldOf(folder, { environment }));
  expect(connection.servers.map(String)).toEqual(["http://first:8080/"]);
  expect(await connection.credentials.read()).toEqual({ authorization: "Bearer t" });
});

test("in a pod: its service account, before the file of the user", async () => {
  const folder = await createFolder();
  const account = join(folder, "account");
  await mkdir(account);
  await writeFile(join(account, "token"), "pod");
  await mkdir(join(folder, ".kube"));
  await writeFile(join(folder, ".kube", "config"), KUBECONFIG);
  const environment = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
  const inPod = await loadConnection(NOTHING, worldOf(folder, { environment }));
  expect(inPod.servers.map(String)).toEqual(["https://[fd00::1]/"]);
  expect(inPod.ca).toEqual({ kind: "file", path: join(account, "ca.crt") });
  expect(await inPod.credentials.read()).toEqual({ authorization: "Bearer pod" });

  const outside = await loadConnection(NOTHING, worldOf(folder));
  expect(outside.name).toBe("context dev");
});

test("only a server, without credentials", async () => {
  const connection = await loadConnection(
    { ...NOTHING, servers: ["127.0.0.1:8001"] },
    worldOf("/nowhere"),
  );
  expect(connection.servers.map(String)).toEqual(["http://127.0.0.1:8001/"]);
  expect(await connection.credentials.read()).toEqual({});
});

test.each([
  ["no context of that name", "prd", '"prd"; expected "prod"?'],
  ["no user of that name", "nobody", 'no user "missing"'],
  ["a certificate without its key", "half", "expected both client-certificate and client-key"],
  ["a provider that is no more", "old", "users[].user.auth-provider is not supported"],
])("refuses %s", async (_, context, message) => {
  const kubeconfig = await writeKubeconfig(await createFolder());
  await expect(
    loadConnection({ ...NOTHING, kubeconfig, context }, worldOf("/nowhere")),
  ).rejects.toMatchObject({
    code: "ERR_CONFIG_INVALID",
    message: expect.stringContaining(message),
  });
});

test("refuses what is no kubeconfig, with the field; and nothing at all, with what would do", async () => {
  const folder = await createFolder();
  const kubeconfig = await writeKubeconfig(
    folder,
    "clusters: [{ name: a, cluster: { server: 7 } }]",
  );
  await expect(loadConnection({ ...NOTHING, kubeconfig }, worldOf("/nowhere"))).rejects.toThrow(
    "clusters[0].cluster.server: 7 is not valid",
  );
  await expect(loadConnection(NOTHING, worldOf(folder))).rejects.toThrow("expected one of them");
});
