import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { generate } from "selfsigned";
import { describe, expect, onTestFinished, test } from "vitest";
import { freePort, startNamedServer } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";
import { makeStateFolder, NO_PORTS, startUp, type Up } from "./up-fixture.ts";

/** The command that adds a certificate for a host. */
async function addition(name: string, host: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "portolan-force-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const pems = await generate([{ name: "commonName", value: host }], { keyType: "ec" });
  const [cert, key] = [join(folder, "site.pem"), join(folder, "site.key")];
  writeFileSync(cert, pems.cert);
  writeFileSync(key, pems.private);
  return `add cert-key ${name} cert ${cert} key ${key}`;
}

/** Whose certificate a listener shows; undefined where it serves nobody. */
function shownName(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const client = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
    const end = (name: string | undefined): void => {
      client.destroy();
      resolve(name);
    };
    client.once("secureConnect", () => end(String(client.getPeerCertificate().subject.CN)));
    client.once("error", () => end(undefined));
    client.once("close", () => end(undefined));
  });
}

async function addBalancer(up: Up, certKeys: string): Promise<number> {
  const server = await startNamedServer("a");
  const port = await freePort();
  for (const line of [
    "add server-group g0",
    `add server s1 to server-group g0 address 127.0.0.1:${server.port}`,
    "add upstream u0",
    "add server-group g0 to upstream u0 weight 3",
    `add tcp-lb lb0 address 127.0.0.1:${port} upstream u0 cert-key ${certKeys}`,
  ]) {
    await up.command(line);
  }
  return port;
}

describe("force-remove of a certificate on a running instance", requires("linux"), () => {
  test("the only one: its listener serves nobody, also after a restart, until it is back", async () => {
    const state = makeStateFolder();
    const args = [...NO_PORTS, "--loops", "1"];
    const up = await startUp(state, args);
    const add = await addition("c0", "a.example");
    await up.command(add);
    const port = await addBalancer(up, "c0");
    expect(await shownName(port)).toBe("a.example");
    await expect(up.command("remove cert-key c0")).rejects.toMatchObject({ code: "ERR_IN_USE" });
    await up.command("force-remove cert-key c0");
    expect(await shownName(port)).toBeUndefined();
    await up.cli.stop("SIGTERM");
    const again = await startUp(state, args);
    expect(await again.command("list cert-key")).toEqual({ kind: "names", names: [] });
    expect(await shownName(port)).toBeUndefined();
    await again.command(add);
    expect(await shownName(port)).toBe("a.example");
    await again.cli.stop("SIGTERM");
  });

  test("one of two: its listener goes on with the other", async () => {
    const up = await startUp(makeStateFolder(), [...NO_PORTS, "--loops", "1"]);
    await up.command(await addition("c0", "a.example"));
    await up.command(await addition("c1", "b.example"));
    const port = await addBalancer(up, "c0,c1");
    expect(await shownName(port)).toBe("a.example");
    await up.command("force-remove cert-key c0");
    expect(await shownName(port)).toBe("b.example");
    await up.cli.stop("SIGTERM");
  });
});
