import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { makeCertificates } from "../../../test/support/certificates.ts";
import { KubeServer, type KubeServerOptions } from "../../../test/support/kube-server.ts";
import { systemExec } from "../../platform/linux/exec.ts";
import { KubeClient, type KubeClientOptions } from "./kube-client.ts";
import { loadConnection } from "./load-connection.ts";

const PATH = "/api/v1/services";

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-kube-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** A server with a certificate of its own authority, which also asks for one. */
async function startServer(folder: string, admits: KubeServerOptions["admits"]) {
  const files = await makeCertificates(folder, "kube");
  const [ca, cert, key] = await Promise.all(
    [files.caFile, files.certFile, files.keyFile].map((file) => readFile(file)),
  );
  const server = await KubeServer.start({
    tls: { ca, cert, key, requestCert: true, rejectUnauthorized: false },
    ...(admits && { admits }),
  });
  onTestFinished(() => server.close());
  return { server, ...files };
}

interface Place {
  readonly folder: string;
  readonly url: string;
  readonly caFile: string;
}

/** A client by a kubeconfig with the user given. */
async function connect({ folder, url, caFile }: Place, user: object, options?: KubeClientOptions) {
  const kubeconfig = join(folder, "kubeconfig");
  const config = {
    "current-context": "c",
    clusters: [{ name: "c", cluster: { server: url, "certificate-authority": caFile } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  const connection = await loadConnection(
    { kubeconfig, context: undefined, servers: [] },
    { exec: systemExec, environment: process.env, homeFolder: folder, nowMs: () => Date.now() },
  );
  const client = new KubeClient(connection, options);
  onTestFinished(() => client.close());
  const ended = new AbortController();
  return async () => {
    const answer = await client.get(PATH, {}, ended.signal);
    if (answer.kind === "refused") return answer.status;
    answer.body.resume();
    return "ok";
  };
}

const isAuthorized = ({ socket }: IncomingMessage) =>
  socket instanceof TLSSocket && socket.authorized;

test("a client certificate lets in, one of another authority does not", async () => {
  const folder = await makeFolder();
  const { server, caFile, certFile, keyFile } = await startServer(folder, isAuthorized);
  const place = { folder, url: server.url, caFile };
  const ours = { "client-certificate": certFile, "client-key": keyFile };
  expect(await (await connect(place, ours))()).toBe("ok");
  const others = await makeCertificates(folder, "stranger");
  const theirs = { "client-certificate": others.certFile, "client-key": others.keyFile };
  expect(await (await connect(place, theirs))()).toBe(401);
});

test("a server of another authority is not spoken to, and is named", async () => {
  const folder = await makeFolder();
  const { server } = await startServer(folder, undefined);
  const { caFile } = await makeCertificates(folder, "stranger");
  const get = await connect({ folder, url: server.url, caFile }, {});
  await expect(get()).rejects.toMatchObject({
    code: "ERR_API_UNREACHABLE",
    message: expect.stringContaining(server.url),
  });
  expect(server.requests).toEqual([]);
});

test("a token that was refused is asked for anew from its program", async () => {
  const folder = await makeFolder();
  let valid = "token-1";
  const { server, caFile } = await startServer(
    folder,
    ({ headers }) => headers.authorization === `Bearer ${valid}`,
  );
  const count = join(folder, "count");
  const program = `
    const { existsSync, readFileSync, writeFileSync } = require("node:fs");
    const file = process.argv[1];
    const next = existsSync(file) ? Number(readFileSync(file, "utf8")) + 1 : 1;
    writeFileSync(file, String(next));
    const { apiVersion } = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
    console.log(JSON.stringify({ kind: "ExecCredential", apiVersion, status: { token: "token-" + next } }));`;
  const get = await connect(
    { folder, url: server.url, caFile },
    {
      exec: {
        apiVersion: "client.authentication.k8s.io/v1",
        command: process.execPath,
        args: ["-e", program, count],
        interactiveMode: "Never",
      },
    },
  );
  expect(await get()).toBe("ok");
  expect(await get()).toBe("ok");
  valid = "token-2";
  expect(await get()).toBe("ok");
  expect(await readFile(count, "utf8")).toBe("2");
});

test("a server that does not answer is given up after a time", async () => {
  const folder = await makeFolder();
  const silent = await KubeServer.start({ admits: () => true });
  onTestFinished(() => silent.close());
  silent.faults.push({ on: "any", does: "hang" });
  const get = await connect({ folder, url: silent.url, caFile: "" }, {}, { answerTimeoutMs: 30 });
  await expect(get()).rejects.toThrow("no answer within 30 ms");
});

test("a refusal whose words never end is one all the same", async () => {
  const folder = await makeFolder();
  const slow = await KubeServer.start();
  onTestFinished(() => slow.close());
  slow.faults.push({ on: "any", does: "falter", status: 500 });
  const get = await connect({ folder, url: slow.url, caFile: "" }, {}, { answerTimeoutMs: 200 });
  expect(await get()).toBe(500);
});

test("a server is reached by IPv6, too", async () => {
  const folder = await makeFolder();
  const server = await KubeServer.start({ host: "::1" });
  onTestFinished(() => server.close());
  expect(server.url).toContain("[::1]");
  const get = await connect({ folder, url: server.url, caFile: "" }, {});
  expect(await get()).toBe("ok");
});
