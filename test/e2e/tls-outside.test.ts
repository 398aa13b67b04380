import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { startCli } from "../support/cli.ts";
import { requires } from "../support/requires.ts";

const run = promisify(execFile);

/** A certificate that vouches for itself, made by a program that is not ours. */
async function makeCertificate(folder: string, name: string) {
  const [cert, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  const names = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1"];
  const files = ["-keyout", key, "-out", cert];
  await run("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...names, ...files]);
  return { cert, key };
}

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
