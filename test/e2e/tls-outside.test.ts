import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { connectApi } from "../../src/sources/api/api-target.ts";
import { startCli } from "../support/cli.ts";
import { makeCertificate } from "../support/make-certificate.ts";
import { requires } from "../support/requires.ts";

const run = promisify(execFile);

/** Whether a handshake comes about. In TLS 1.2 the server judges the client within it. */
async function canShakeHands(address: string, options: readonly string[]): Promise<boolean> {
  const client = run("openssl", ["s_client", "-connect", address, "-tls1_2", ...options]);
  client.child.stdin?.end();
  return client.then(
    () => true,
    () => false,
  );
}

test(
  "the API lets in only who shows a certificate of its authority",
  requires("openssl"),
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "portolan-tls-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const ours = await makeCertificate(folder, "ours");
    const strangers = await makeCertificate(folder, "strangers");
    const tls = ["--api-tls-cert", ours.cert, "--api-tls-key", ours.key, "--api-tls-ca", ours.cert];
    const from = ["--from", "file:examples/quickstart.yaml"];
    const cli = startCli(["run", ...from, "--to", "api", "--api-listen", "127.0.0.1:0", ...tls]);
    const [, address = ""] = await cli.waitFor(/"listens on ([\d.:]+)"/, "stderr");

    const trust = ["-CAfile", ours.cert, "-verify_return_error"];
    const show = ({ cert, key }: typeof ours) => ["-cert", cert, "-key", key];
    expect(await canShakeHands(address, [...trust, ...show(ours)])).toBe(true);
    expect(await canShakeHands(address, [...trust, ...show(strangers)])).toBe(false);
    expect(await canShakeHands(address, trust)).toBe(false);
  },
);

/** A TLS server that is not ours: it tells by an alert why it refuses a client. */
async function startStrictServer(ours: { cert: string; key: string }, version: string) {
  const tls = ["-cert", ours.cert, "-key", ours.key, "-CAfile", ours.cert, "-alpn", "h2", version];
  const strict = ["-accept", "127.0.0.1:0", "-Verify", "1", "-verify_return_error"];
  const running = run("openssl", ["s_server", ...strict, ...tls]);
  const server = running.child;
  onTestFinished(() => void server.kill());
  let text = "";
  return new Promise<number>((resolve, reject) => {
    running.catch(reject);
    server.stdout?.on("data", (chunk) => {
      text += String(chunk);
      const [, port] = /ACCEPT \S+:(\d+)/.exec(text) ?? [];
      if (port !== undefined) resolve(Number(port));
    });
  });
}

test.each(["-tls1_2", "-tls1_3"])(
  "the reason that a server refuses our certificate for is told: %s",
  requires("openssl"),
  async (version) => {
    const folder = await mkdtemp(join(tmpdir(), "portolan-tls-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const ours = await makeCertificate(folder, "ours");
    const strangers = await makeCertificate(folder, "strangers");
    const port = await startStrictServer(ours, version);
    const tls = { certFile: strangers.cert, keyFile: strangers.key, caFile: ours.cert };
    const address = { kind: "tcp", host: "127.0.0.1", port } as const;
    await expect(connectApi({ address, tls }, 10_000)).rejects.toMatchObject({
      code: "ERR_API_UNREACHABLE",
      message: `the API at 127.0.0.1:${port} can not be reached: TLS: tlsv1 alert unknown ca`,
    });
  },
);
