import { connect as connectTcp } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { freePortBlock } from "../support/free-ports.ts";
import { startNamedServer } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";
import { createTestAuthority, hear, type IdentityFiles } from "./mesh-fixture.ts";
import { makeStateFolder, NO_PORTS, startUp, type Up } from "./up-fixture.ts";

const LATER = { timeout: 15_000, interval: 50 };
const SHOP = "spiffe://portolan/service/default/shop";
const WEB = "spiffe://portolan/service/default/web";

async function addCert(up: Up, { cert, key, ca }: IdentityFiles, name = "id"): Promise<void> {
  await up.command(`add cert-key ${name} cert ${cert} key ${key} ca ${ca}`);
}

/** In by TLS for `peers`, on to a server of its own. */
async function startShop(files: IdentityFiles, port: number, peers: string): Promise<Up> {
  const server = await startNamedServer("shop");
  const up = await startUp(makeStateFolder(), [
    ...NO_PORTS,
    "--loops",
    "1",
    "--log-level",
    "debug",
  ]);
  await addCert(up, files);
  await up.command("add server-group app protocol none");
  await up.command(`add server app to server-group app address 127.0.0.1:${server.port}`);
  await up.command("add upstream app");
  await up.command("add server-group app to upstream app");
  await up.command(
    `add tcp-lb front address 127.0.0.1:${port} upstream app cert-key id peers ${peers}`,
  );
  return up;
}

interface WayOut {
  /** Of the group, its certificate, its upstream and its listener. */
  readonly name: string;
  readonly files: IdentityFiles;
  readonly port: number;
  /** Where shop is. */
  readonly shop: number;
}

/** Out by TLS to a server that has to be shop. */
async function addWayOut(up: Up, { name, files, port, shop }: WayOut): Promise<void> {
  await addCert(up, files, name);
  await up.command(`add server-group ${name} protocol none tls ${name} peers ${SHOP}`);
  await up.command(`add server shop to server-group ${name} address 127.0.0.1:${shop}`);
  await up.command(`add upstream ${name}`);
  await up.command(`add server-group ${name} to upstream ${name}`);
  await up.command(`add tcp-lb ${name} address 127.0.0.1:${port} upstream ${name}`);
}

async function startWeb(out: Omit<WayOut, "name">): Promise<Up> {
  const up = await startUp(makeStateFolder(), [...NO_PORTS, "--loops", "1"]);
  await addWayOut(up, { name: "web", ...out });
  return up;
}

describe("mutual TLS between sidecars", requires("linux"), () => {
  test("who is allowed is served; others, strangers and expired ones are refused and told", async () => {
    const [authority, foreign] = [await createTestAuthority(), await createTestAuthority()];
    const first = await freePortBlock(4);
    const shop = first;
    const [up, web] = await Promise.all([
      startShop(await authority.issue("default/shop"), shop, WEB),
      startWeb({ files: await authority.issue("default/web"), port: first + 1, shop }),
    ]);
    await expect.poll(() => hear(first + 1), LATER).toBe("shop\n");

    // Without a certificate, with that of another service, of another authority, or of yesterday.
    expect(await hear(shop)).not.toContain("shop");
    const other = await authority.issue("default/other");
    await addWayOut(web, { name: "other", files: other, port: first + 2, shop });
    expect(await hear(first + 2)).not.toContain("shop");
    await up.cli.waitFor(/service\/default\/other is not allowed/, "stderr");
    const stranger = await foreign.issue("default/web");
    await addWayOut(web, { name: "foreign", files: stranger, port: first + 3, shop });
    expect(await hear(first + 3)).not.toContain("shop");

    // A server that is somebody else is not spoken to.
    await web.command("update server-group web peers spiffe://portolan/service/default/db");
    await expect.poll(() => hear(first + 1), LATER).not.toContain("shop");
    await web.cli.waitFor(/service\/default\/shop is not allowed/, "stderr");
    await web.command(`update server-group web peers ${SHOP}`);
    await expect.poll(() => hear(first + 1), LATER).toBe("shop\n");

    // What has expired is refused from the next connection on.
    await authority.issue("default/web", -1000);
    await expect.poll(() => hear(first + 1), LATER).not.toContain("shop");
    await authority.issue("default/web");
    await expect.poll(() => hear(first + 1), LATER).toBe("shop\n");

    // Deny by identity.
    await up.command(`update tcp-lb front peers !${WEB},spiffe://portolan/*`);
    await expect.poll(() => hear(first + 1), LATER).not.toContain("shop");
    await expect.poll(() => hear(first + 2), LATER).toBe("shop\n");
  }, 60_000);

  test("certificates are renewed under connections that go on", async () => {
    const authority = await createTestAuthority();
    const first = await freePortBlock(2);
    const files = await authority.issue("default/web");
    const [, web] = await Promise.all([
      startShop(await authority.issue("default/shop"), first, WEB),
      startWeb({ files, port: first + 1, shop: first }),
    ]);
    await expect.poll(() => hear(first + 1), LATER).toBe("shop\n");
    const socket = connectTcp({ host: "127.0.0.1", port: first + 1 });
    onTestFinished(() => {
      socket.destroy();
    });
    let heard = "";
    let isClosed = false;
    socket.on("data", (bytes) => {
      heard += bytes.toString();
    });
    socket.on("close", () => {
      isClosed = true;
    });
    await expect.poll(() => heard, LATER).toBe("shop\n");
    for (let round = 0; round < 3; round += 1) {
      await Promise.all([authority.issue("default/shop"), authority.issue("default/web")]);
      await expect.poll(() => hear(first + 1), LATER).toBe("shop\n");
      socket.write(`${round}`);
      await expect.poll(() => heard, LATER).toBe(`shop\n${"012".slice(0, round + 1)}`);
    }
    expect(isClosed).toBe(false);
    expect(web.cli.stderr).not.toContain("not the right one");
  }, 60_000);

  test("TLS to servers is whole or refused: with peers, and a certificate that has authorities", async () => {
    const up = await startUp(makeStateFolder(), [...NO_PORTS, "--loops", "1"]);
    const authority = await createTestAuthority();
    const { cert, key } = await authority.issue("default/web");
    await up.command(`add cert-key id cert ${cert} key ${key}`);
    await expect(up.command("add server-group g0 tls id")).rejects.toThrow("peers too");
    await expect(up.command(`add server-group g0 peers ${SHOP}`)).rejects.toThrow("tls too");
    await expect(up.command("add server-group g0 tls nope peers spiffe://a/b")).rejects.toThrow(
      "nope",
    );
    await expect(up.command("add server-group g0 tls id peers shop")).rejects.toThrow("spiffe://");
    // Never without TLS, where it can not be had.
    const server = await startNamedServer("plain");
    const port = await freePortBlock(1);
    await up.command(`add server-group g0 protocol none tls id peers ${SHOP}`);
    await up.command(`add server s to server-group g0 address 127.0.0.1:${server.port}`);
    await up.command("add upstream u0");
    await up.command("add server-group g0 to upstream u0");
    await up.command(`add tcp-lb out address 127.0.0.1:${port} upstream u0`);
    expect(await hear(port)).not.toContain("plain");
    await up.cli.waitFor(/it has no caFile to know servers by/, "stderr");
    await expect(up.command("remove cert-key id")).rejects.toThrow("server-group g0");
  });
});
