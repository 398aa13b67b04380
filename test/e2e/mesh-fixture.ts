import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Authority, createAuthority } from "../../src/brain/identity/authority.ts";
import type { ManagerPlace } from "./manager-fixture.ts";

/** Files of one identity. */
export interface IdentityFiles {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

export interface TestAuthority {
  readonly caFile: string;
  /** Makes, or makes anew, the files of a service. @param lifetimeMs negative: it has expired */
  issue(service: string, lifetimeMs?: number): Promise<IdentityFiles>;
}

const HOUR_MS = 3_600_000;

/** An authority of its own, with files that go with the test. */
export async function createTestAuthority(trustDomain = "portolan"): Promise<TestAuthority> {
  const folder = mkdtempSync(join(tmpdir(), "portolan-mesh-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const authority = await Authority.open(await createAuthority(trustDomain, Date.now() - HOUR_MS));
  const caFile = join(folder, "ca.pem");
  writeFileSync(caFile, authority.certificate);
  return {
    caFile,
    issue: async (service, lifetimeMs = HOUR_MS) => {
      const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const nowMs = lifetimeMs < 0 ? Date.now() + 2 * lifetimeMs : Date.now();
      const { certificate } = await authority.sign({
        identity: { trustDomain, kind: "service", name: service },
        publicKey: String(publicKey.export({ format: "pem", type: "spki" })),
        hosts: [],
        nowMs,
        lifetimeMs: Math.abs(lifetimeMs),
      });
      const stem = join(folder, service.replaceAll("/", "-"));
      const files = { cert: `${stem}.pem`, key: `${stem}-key.pem`, ca: caFile };
      writeFileSync(files.cert, certificate);
      writeFileSync(files.key, String(privateKey.export({ format: "pem", type: "pkcs8" })));
      return files;
    },
  };
}

/** The name of a service, as a manager of the tests gives it. */
export function spiffe(service: string): string {
  return `spiffe://portolan/service/default/${service}`;
}

/** What `portolan up` is told to follow a manager with the identity of a service, and to announce there. */
export async function identityArgs(
  brain: ManagerPlace,
  service: string,
  state: string,
): Promise<readonly string[]> {
  const tokenFile = join(state, "..", "token");
  writeFileSync(tokenFile, await brain.ask("token", "create", "--service", service), {
    mode: 0o600,
  });
  const address = `127.0.0.1:${brain.address.port}`;
  return [
    ...["--from", `api:${address}`, "--announce-ttl", "2s"],
    ...["--identity-from", address, "--identity-service", service],
    ...["--identity-token-file", tokenFile],
  ];
}

/** What is heard first at a port, or why nothing is. */
export function hear(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.setTimeout(5000, () => socket.destroy(new Error("silence")));
    socket.once("data", (bytes) => {
      resolve(bytes.toString());
      socket.destroy();
    });
    socket.once("error", (error) => resolve(`error: ${error.message}`));
    socket.once("close", () => resolve("closed"));
  });
}
