import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";

describe("datagrams to a unix socket", requires("linux"), () => {
  test.each([false, true])("arrive whole (abstract name: %s)", async (isAbstract) => {
    const { DatagramReceiver } = await import("./unix-datagram.fixture.ts");
    const { sendUnixDatagram } = await import("./unix-datagram.ts");
    const folder = await mkdtemp(join(tmpdir(), "portolan-datagram-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = isAbstract ? `@${folder}` : join(folder, "socket");
    const receiver = new DatagramReceiver(path);
    onTestFinished(() => receiver.close());
    sendUnixDatagram(path, "READY=1\nSTATUS=grüße");
    await receiver.until("READY=1");
    expect(receiver.texts).toEqual(["READY=1\nSTATUS=grüße"]);
  });

  test("nobody there is an error", async () => {
    const { sendUnixDatagram } = await import("./unix-datagram.ts");
    expect(() => sendUnixDatagram("/nowhere/socket", "READY=1")).toThrow("connect failed: ENOENT");
  });
});
