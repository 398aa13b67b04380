import { execFile } from "node:child_process";
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { Authority, createAuthority } from "./authority.ts";
import { pinOf } from "./pin.ts";

const NOW = Date.UTC(2026, 10, 17);
const HOUR_MS = 3_600_000;
const run = promisify(execFile);

function newKey(curve = "P-256"): string {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: curve });
  return String(publicKey.export({ format: "pem", type: "spki" }));
}

function requestOf(publicKey: string, nowMs = NOW) {
  const identity = { trustDomain: "", kind: "node", name: "edge-1" };
  return {
    identity,
    publicKey,
    hosts: ["edge-1", "10.0.0.7", "fd00::7"],
    nowMs,
    lifetimeMs: HOUR_MS,
  };
}

test("a certificate names who it is for, and ends soon", async () => {
  const keys = await createAuthority("portolan", NOW);
  const authority = await Authority.open(keys);
  const publicKey = newKey();
  const { certificate, expiresMs } = await authority.sign(requestOf(publicKey));
  const read = new X509Certificate(certificate);
  expect(read.subjectAltName).toBe(
    "URI:spiffe://portolan/node/edge-1, DNS:edge-1, IP Address:10.0.0.7, IP Address:FD00:0:0:0:0:0:0:7",
  );
  expect(expiresMs).toBe(NOW + HOUR_MS);
  expect(Date.parse(read.validTo)).toBe(expiresMs);
  expect(read.ca).toBe(false);
  expect(String(read.publicKey.export({ format: "pem", type: "spki" }))).toBe(publicKey);
  const issuer = new X509Certificate(authority.certificate);
  expect(read.verify(issuer.publicKey)).toBe(true);
  expect(read.checkIssued(issuer)).toBe(true);
  expect(authority.pin).toBe(pinOf(issuer.raw));
});

test("the same keys make the same authority again", async () => {
  const keys = await createAuthority("portolan", NOW);
  const [first, second] = [await Authority.open(keys), await Authority.open(keys)];
  expect(second.pin).toBe(first.pin);
  const { certificate } = await second.sign(requestOf(newKey()));
  expect(
    new X509Certificate(certificate).verify(new X509Certificate(first.certificate).publicKey),
  ).toBe(true);
});

test("a certificate never outlives its authority", async () => {
  const authority = await Authority.open(await createAuthority("portolan", NOW));
  const endMs = Date.parse(new X509Certificate(authority.certificate).validTo);
  const { expiresMs } = await authority.sign(requestOf(newKey(), endMs - 1000));
  expect(expiresMs).toBe(endMs);
});

test("what is no key on P-256 is refused by name", async () => {
  const authority = await Authority.open(await createAuthority("portolan", NOW));
  const why = "publicKey: it can not be read; expected a public key on the curve P-256, in PEM";
  await expect(authority.sign(requestOf("none"))).rejects.toThrow(why);
  await expect(authority.sign(requestOf(newKey("P-384")))).rejects.toThrow(why);
});

test("openssl accepts the chain for both ends of TLS", requires("openssl"), async () => {
  const folder = await mkdtemp(join(tmpdir(), "portolan-authority-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const authority = await Authority.open(await createAuthority("portolan", Date.now()));
  const { certificate } = await authority.sign(requestOf(newKey(), Date.now()));
  const [ca, leaf] = [join(folder, "ca.pem"), join(folder, "leaf.pem")];
  await writeFile(ca, authority.certificate);
  await writeFile(leaf, certificate);
  for (const purpose of ["sslclient", "sslserver"]) {
    const words = ["verify", "-x509_strict", "-purpose", purpose, "-CAfile", ca, leaf];
    const { stdout } = await run("openssl", words);
    expect(stdout.trim()).toBe(`${leaf}: OK`);
  }
});

test("no authority is made while the clock is plainly wrong, and it is said what to do", async () => {
  await expect(createAuthority("portolan", 5000)).rejects.toMatchObject({
    code: "ERR_NOT_POSSIBLE_HERE",
    message: expect.stringMatching(/says 1970-01-01.*expected 2026-01-01 or later: set the clock/),
  });
});
