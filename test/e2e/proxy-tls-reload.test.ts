import { once } from "node:events";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TLSSocket } from "node:tls";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startCli } from "../support/cli.ts";
import { freePort, startNamedServer } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";
import { configOf } from "./proxy-config.ts";
import { ask, echo, startServer, TestEngine } from "./proxy-fixture.ts";
import { Authority, dialTls, type Pair, shownName, tlsConfigOf } from "./proxy-tls-fixture.ts";

let authority: Authority;
let before: Pair;
let after: Pair;

beforeAll(async () => {
  authority = await Authority.create();
  before = await authority.issue(["before.example"]);
  after = await authority.issue(["after.example"]);
});

async function says(client: TLSSocket, text: string): Promise<void> {
  client.write(text);
  expect((await once(client, "data")).toString()).toBe(text);
}

describe("a certificate that is replaced", requires("linux"), () => {
  test("is used from the next handshake on; what is open stays, and no client fails", async () => {
    const proxy = await TestEngine.start({ loops: 2 });
    const { port } = await startServer(echo);
    await proxy.engine.apply(tlsConfigOf([port], [before]));
    const open = await dialTls(proxy.port());
    await says(open, "one");
    let isOver = false;
    let asked = 0;
    const callers = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const client = await dialTls(proxy.port());
        await says(client, "x");
        client.destroy();
        asked += 1;
      }
    });
    for (let round = 0; round < 20; round += 1) {
      await proxy.engine.apply(tlsConfigOf([port], [round % 2 === 0 ? after : before]));
    }
    await proxy.engine.apply(tlsConfigOf([port], [after]));
    const shown = shownName(await dialTls(proxy.port()));
    isOver = true;
    await Promise.all(callers);
    expect(asked).toBeGreaterThan(0);
    expect(shown).toBe("after.example");
    await says(open, "two");
    expect(shownName(open)).toBe("before.example");
  });

  test("a listener becomes plain and secure again on the same socket", async () => {
    const proxy = await TestEngine.start();
    const { port } = await startServer(echo);
    await proxy.engine.apply(tlsConfigOf([port], [before]));
    const at = proxy.port();
    const open = await dialTls(at);
    await says(open, "one");
    await proxy.engine.apply(configOf([port]));
    expect(proxy.port()).toBe(at);
    expect(await ask(at, "plain")).toBe("plain");
    await says(open, "two");
    await proxy.engine.apply(tlsConfigOf([port], [after]));
    expect(shownName(await dialTls(at))).toBe("after.example");
  });
});

/** Files of a certificate, replaced as a whole. */
function pairFiles(): { readonly cert: string; readonly key: string; put(pair: Pair): void } {
  const folder = mkdtempSync(join(tmpdir(), "portolan-tls-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const replace = (path: string, text: string): void => {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  };
  const put = ({ certPem, keyPem }: Pair): void => {
    replace(key, keyPem);
    replace(cert, certPem);
  };
  return { cert, key, put };
}

describe("a listener whose certificate is in files", requires("linux"), () => {
  test("waits for its files, takes new ones, and keeps good ones before bad ones", async () => {
    const server = await startNamedServer("a");
    const port = await freePort();
    const { cert, key, put } = pairFiles();
    const state = join(dirname(cert), "state.json");
    const listen = { address: `127.0.0.1:${port}`, tls: "web" };
    writeFileSync(
      state,
      JSON.stringify({
        version: 1,
        certificates: { web: { certFiles: [cert], keyFile: key } },
        services: { web: { listen, servers: [`127.0.0.1:${server.port}`] } },
      }),
    );
    const cli = startCli(["run", "--from", `file:${state}`, "--to", "userspace"]);
    await cli.waitFor(
      /Certificate default\/web: .*cert\.pem: ENOENT.*Listener default\/web/,
      "stderr",
    );
    put(before);
    await cli.waitFor(new RegExp(`serving 127.0.0.1:${port}`), "stderr");
    const shown = async (): Promise<string> => {
      const client = await dialTls(port);
      const name = shownName(client);
      client.destroy();
      return name;
    };
    expect(await shown()).toBe("before.example");
    put({ certPem: after.certPem, keyPem: before.keyPem });
    await cli.waitFor(
      /key\.pem: the key does not belong to the certificate in .*cert\.pem; what was there before is kept/,
      "stderr",
    );
    expect(await shown()).toBe("before.example");
    put(after);
    await expect.poll(shown, { timeout: 10_000 }).toBe("after.example");
    await cli.stop("SIGTERM");
  });
});
