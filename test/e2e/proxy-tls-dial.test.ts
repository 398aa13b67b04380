import { readFileSync } from "node:fs";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import type { DialTlsConfig } from "../../src/proxy/engine-config.ts";
import { requires } from "../support/requires.ts";
import { createTestAuthority, hear, type IdentityFiles } from "./mesh-fixture.ts";
import { configOf } from "./proxy-config.ts";
import { TestEngine } from "./proxy-fixture.ts";

const WEB = "spiffe://portolan/service/default/web";
const SHOP = "spiffe://portolan/service/default/shop";

function pairOf({ cert, key }: IdentityFiles) {
  return { certPem: readFileSync(cert, "utf8"), keyPem: readFileSync(key, "utf8") };
}

/** Asks clients who they are, greets them, and knows whether each has resumed a session. */
async function startTlsServer(files: IdentityFiles, caPem: string) {
  const calls: { readonly isResumed: boolean; readonly who: string | undefined }[] = [];
  const { certPem: cert, keyPem: key } = pairOf(files);
  const server = createServer({ cert, key, ca: caPem, requestCert: true }, (socket: TLSSocket) => {
    const { subjectaltname: who } = socket.getPeerCertificate();
    calls.push({ isResumed: socket.isSessionReused(), who });
    socket.on("error", () => undefined).write("shop\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const renew = (next: IdentityFiles): void => {
    const pair = pairOf(next);
    server.setSecureContext({ cert: pair.certPem, key: pair.keyPem, ca: caPem });
  };
  return { port, calls, renew };
}

async function startPair() {
  const authority = await createTestAuthority();
  const caPem = readFileSync(authority.caFile, "utf8");
  const server = await startTlsServer(await authority.issue("default/shop"), caPem);
  const proxy = await TestEngine.start({ loops: 1 });
  const dial = async (peers = [SHOP]): Promise<void> => {
    const certificate = { key: "id", ...pairOf(await authority.issue("default/web")) };
    const tls: DialTlsConfig = { certificate, caPem, peers };
    await proxy.engine.apply(configOf([server.port], { group: { tls } }));
  };
  await dial();
  const call = async (): Promise<boolean | undefined> => {
    expect(await hear(proxy.port())).toBe("shop\n");
    const { isResumed, who } = server.calls.at(-1) ?? {};
    expect(who).toBe(`URI:${WEB}`);
    return isResumed;
  };
  return { authority, server, proxy, dial, call };
}

/** A session is on the shelf when its connection has ended, which the client may know before. */
async function untilResumed(call: () => Promise<boolean | undefined>): Promise<void> {
  await expect.poll(call, { timeout: 20_000 }).toBe(true);
}

describe("TLS to servers", requires("linux"), () => {
  test("a session with a server is resumed, but not with another certificate of one's own", async () => {
    const { call, dial } = await startPair();
    expect(await call()).toBe(false);
    await untilResumed(call);
    await untilResumed(call);
    await dial();
    expect(await call()).toBe(false);
    await untilResumed(call);
  });

  test("who may not be called is not called by a session either", async () => {
    const { call, dial, proxy, server } = await startPair();
    await call();
    await untilResumed(call);
    await dial(["spiffe://portolan/service/default/db"]);
    expect(await hear(proxy.port())).not.toContain("shop");
    await dial();
    await call();
    expect(server.calls.at(-1)?.isResumed).toBe(false);
  });

  test.each(["http", "h2"] as const)(
    "who may not be called is not asked by a connection of mode %s that waits for requests",
    async (mode) => {
      const authority = await createTestAuthority();
      const caPem = readFileSync(authority.caFile, "utf8");
      const { certPem: cert, keyPem: key } = pairOf(await authority.issue("default/shop"));
      const server = createHttps({ cert, key, ca: caPem, requestCert: true }, (_, answer) => {
        answer.end("shop");
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => {
        server.closeAllConnections();
        server.close();
      });
      const { port } = server.address() as AddressInfo;
      const proxy = await TestEngine.start({ loops: 1 });
      const certificate = { key: "id", ...pairOf(await authority.issue("default/web")) };
      const ask = async (peer: string): Promise<string> => {
        const tls: DialTlsConfig = { certificate, caPem, peers: [peer] };
        await proxy.engine.apply(configOf([port], { listener: { mode }, group: { tls } }));
        const answer = await fetch(`http://127.0.0.1:${proxy.port()}/`);
        return `${answer.status} ${await answer.text()}`;
      };
      expect(await ask(SHOP)).toBe("200 shop");
      expect(await ask("spiffe://portolan/service/default/db")).toMatch(/^50[23]/);
      expect(await ask(SHOP)).toBe("200 shop");
    },
  );

  test("a server that has another identity now is not taken for the one before", async () => {
    const { authority, server, proxy, call } = await startPair();
    await call();
    await untilResumed(call);
    server.renew(await authority.issue("default/other"));
    // Its tickets are of keys that went with the context: the handshake is whole, and shows who it is.
    await expect.poll(() => hear(proxy.port()), { timeout: 20_000 }).not.toContain("shop");
    server.renew(await authority.issue("default/shop"));
    await expect.poll(() => hear(proxy.port()), { timeout: 20_000 }).toBe("shop\n");
  });
});
