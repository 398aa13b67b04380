import { execFile } from "node:child_process";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { connect as connectHttp2 } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { createApiServer } from "../../src/brain/api-server.ts";
import type { ListenAddress } from "../../src/core/options/listen-address.ts";
import { watchNode } from "../../src/sources/api/watch-node.ts";
import { makeCertificates } from "../support/certificates.ts";
import { sampleEndpoint, sampleService } from "../support/samples.ts";
import { clientOptions, createReport, portOf, startBrain, storeOf } from "./api-brain.ts";

const run = promisify(execFile);
const REQUEST = { nodeName: "node-a", sets: [] };
const web = sampleService({ name: "web", clusterIPs: ["10.96.0.1"] });

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-api-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test("TLS lets in only clients with a certificate of the right authority", async () => {
  const folder = await makeFolder();
  const ours = await makeCertificates(folder, "ours");
  const theirs = await makeCertificates(folder, "theirs");
  const brain = await startBrain(storeOf([web]), {
    tls: { certFile: ours.certFile, keyFile: ours.keyFile, clientCaFile: ours.caFile },
  });
  const port = portOf(brain);

  const good = watchNode(clientOptions(port, { tls: ours }), REQUEST, createReport());
  onTestFinished(() => good.close());
  expect(await good.next()).toHaveLength(3);

  const refusedWith = async (options: Parameters<typeof clientOptions>[1]): Promise<string> => {
    const report = createReport();
    const watcher = watchNode(clientOptions(port, options), REQUEST, report);
    const next = watcher.next();
    await expect.poll(() => report.failures.length).toBeGreaterThan(0);
    watcher.close();
    await expect(next).rejects.toMatchObject({ code: "ERR_ABORTED" });
    expect(report.failures[0]?.code).toBe("ERR_API_UNREACHABLE");
    return report.failures[0]?.message ?? "";
  };
  // A client of another authority, one that does not trust ours, and one without TLS.
  expect(await refusedWith({ tls: { ...theirs, caFile: ours.caFile } })).toMatch(
    /closed; the server may have refused the certificate/,
  );
  expect(await refusedWith({ tls: { ...ours, caFile: theirs.caFile } })).toMatch(/certificate/);
  await refusedWith({});
  expect(brain.server.stats().watchers).toBe(1);
});

test("TLS below 1.2 is refused", async () => {
  const folder = await makeFolder();
  const { certFile, keyFile, caFile } = await makeCertificates(folder, "ours");
  const brain = await startBrain(storeOf([]), { tls: { certFile, keyFile, clientCaFile: caFile } });
  const socket = connectTls({
    port: portOf(brain),
    host: "127.0.0.1",
    maxVersion: "TLSv1.1",
    minVersion: "TLSv1",
    rejectUnauthorized: false,
  });
  const outcome = await new Promise((resolve) => {
    socket.once("secureConnect", () => resolve("connected"));
    socket.once("error", () => resolve("refused"));
  });
  expect(outcome).toBe("refused");
});

test("a TLS file that is not there or no certificate is named", async () => {
  const folder = await makeFolder();
  const listen: ListenAddress = { kind: "tcp", host: "127.0.0.1", port: 0 };
  const missing = join(folder, "missing.pem");
  const tls = { certFile: missing, keyFile: missing, clientCaFile: missing };
  await expect(createApiServer(storeOf([]), { listen, tls })).rejects.toMatchObject({
    code: "ERR_CONFIG_INVALID",
    message: expect.stringContaining(missing),
  });
  await writeFile(missing, "no certificate");
  await expect(createApiServer(storeOf([]), { listen, tls })).rejects.toMatchObject({
    code: "ERR_CONFIG_INVALID",
  });
});

test("a unix socket serves, and is for its owner and group only", async () => {
  const path = join(await makeFolder(), "api.sock");
  const address: ListenAddress = { kind: "unix", path };
  await startBrain(storeOf([web]), { listen: address });
  expect((await stat(path)).mode & 0o777).toBe(0o660);
  const watcher = watchNode(clientOptions(0, { address }), REQUEST, createReport());
  onTestFinished(() => watcher.close());
  expect(await watcher.next()).toHaveLength(3);

  await expect(createApiServer(storeOf([]), { listen: address })).rejects.toMatchObject({
    code: "ERR_LISTEN",
    message: `unix:${path} is in use by another server`,
  });
});

test("a socket that a dead server left is taken over, another file is not", async () => {
  const folder = await makeFolder();
  const path = join(folder, "api.sock");
  const dying = `require("node:net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
  await expect(run(process.execPath, ["-e", dying])).rejects.toMatchObject({ signal: "SIGKILL" });
  expect((await stat(path)).isSocket()).toBe(true);
  await startBrain(storeOf([web]), { listen: { kind: "unix", path } });

  const file = join(folder, "file");
  await writeFile(file, "precious");
  const listen: ListenAddress = { kind: "unix", path: file };
  await expect(createApiServer(storeOf([]), { listen })).rejects.toMatchObject({
    code: "ERR_LISTEN",
    message: expect.stringContaining("is not a socket"),
  });
});

test("a port that is taken is named", async () => {
  const { server } = await startBrain(storeOf([]));
  await expect(createApiServer(storeOf([]), { listen: server.address })).rejects.toMatchObject({
    code: "ERR_LISTEN",
    message: expect.stringContaining("EADDRINUSE"),
  });
});

test("a client that stops reading holds nobody up, nor the end of the server", async () => {
  const objects = Array.from({ length: 5000 }, (_, index) =>
    sampleEndpoint({ group: "web", addresses: [`10.1.${index >> 8}.${index & 255}`] }),
  );
  const brain = await startBrain(storeOf([web, ...objects]));
  const stalled = connectHttp2(`http://${brain.address}`);
  stalled.on("error", () => undefined);
  onTestFinished(() => stalled.destroy());
  const call = stalled.request({
    ":method": "POST",
    ":path": "/localv1.Sets/Watch",
    "content-type": "application/grpc",
    te: "trailers",
  });
  call.on("error", () => undefined);
  call.write(Buffer.from([0, 0, 0, 0, 0]));
  await new Promise((resolve) => call.once("response", resolve));

  const watcher = watchNode(clientOptions(portOf(brain)), REQUEST, createReport());
  onTestFinished(() => watcher.close());
  expect(await watcher.next()).toHaveLength(objects.length + 3);
  // The change for the other client is still under way.
  expect(brain.server.stats()).toMatchObject({ watchers: 2, changesSent: 1 });
  await brain.server.close();
});

test("something that is no gRPC call is turned away", async () => {
  const { address } = await startBrain(storeOf([]));
  const session = connectHttp2(`http://${address}`);
  onTestFinished(() => session.destroy());
  const call = session.request({ ":path": "/localv1.Sets/Watch" });
  const headers = await new Promise((resolve) => call.once("response", resolve));
  expect(headers).toMatchObject({ ":status": 415 });
});
