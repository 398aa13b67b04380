import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { generateKeyPair } from "../../platform/x25519.ts";
import { hasRightChecksums, packetOf } from "../../wire/ip/packets.fixture.ts";
import { initiate, readResponse } from "./noise-ik.ts";

const IDENTIFIER = "WireGuard v1 zx2c4 Jason@zx2c4.com";
const DEVICE = "wgportolan0";
const PORT = 51_820;

describe("WireGuard itself", requires("linux", "root", "ip", "wireguard-go"), () => {
  test("takes this handshake, and packets by the session that comes of it", async () => {
    const { NetworkNamespace } = await import("../../platform/linux/network-namespace.ts");
    const { openDatagram } = await import("../../net/posix/open-socket.ts");
    const { recv, send } = await import("../../platform/linux/socket-calls.ts");
    const { close, fcntl } = await import("../../platform/linux/io-calls.ts");
    const { setTimeouts } = await import("../../platform/linux/socket-options.ts");
    const { allocateNative } = await import("../../platform/linux/native-memory.ts");
    const { loadAead } = await import("../../platform/linux/openssl/aead-calls.ts");
    const { AeadKey } = await import("../../platform/linux/openssl/aead-key.ts");
    const { ipAddress } = await import("../../platform/socket-address.ts");
    const [own, theirs] = [generateKeyPair(), generateKeyPair()];
    const namespace = NetworkNamespace.create();
    const env = { ...process.env, WG_I_PREFER_BUGGY_USERSPACE_TO_POLISHED_KMOD: "1" };
    const program = namespace.run(() =>
      spawn("wireguard-go", ["-f", DEVICE], { env, stdio: "ignore" }),
    );
    const ip = (...args: readonly string[]) => namespace.run(() => execFileSync("ip", args));
    onTestFinished(async () => {
      const over = once(program, "exit");
      program.kill("SIGTERM");
      await over;
      namespace.close();
    });
    const privateKey = theirs.privateKey.export({ type: "pkcs8", format: "der" }).subarray(-32);
    await vi.waitFor(
      () =>
        configure([
          `private_key=${privateKey.toString("hex")}`,
          `listen_port=${PORT}`,
          `public_key=${own.publicBytes.toString("hex")}`,
          "allowed_ip=10.99.0.2/32",
        ]),
      { timeout: 10_000 },
    );
    ip("link", "set", "lo", "up");
    ip("addr", "add", "10.99.0.1/24", "dev", DEVICE);
    ip("link", "set", DEVICE, "up");

    const { descriptor } = namespace.run(() =>
      openDatagram(ipAddress("127.0.0.1", 0), { connectTo: ipAddress("127.0.0.1", PORT) }),
    );
    onTestFinished(() => {
      close(descriptor);
    });
    // Blocking, with a limit: the program answers at once.
    fcntl(descriptor, 4, 0);
    setTimeouts(descriptor, 3000);
    const memory = allocateNative(4096);
    const exchange = (bytes: Uint8Array): Buffer => {
      memory.bytes.set(bytes);
      send(descriptor, memory.address, bytes.length, 0);
      const count = recv(descriptor, memory.address, memory.bytes.length);
      return Buffer.from(memory.bytes.subarray(0, Math.max(0, count)));
    };

    const from = { identity: own, identifier: IDENTIFIER };
    const stamp = Buffer.alloc(12);
    stamp.writeBigUInt64BE(0x4000_0000_0000_000an + BigInt(Math.floor(Date.now() / 1000)));
    const begun = initiate(from, theirs.publicBytes, { senderIndex: 77, payload: stamp });
    if (begun === undefined) throw new Error("nothing was begun");
    const agreed = readResponse(from, begun.state, exchange(begun.message));
    if (agreed === undefined) throw new Error("the response was not understood");

    const calls = loadAead();
    const sealing = new AeadKey(calls, agreed.keys.sealing, "seal");
    const opening = new AeadKey(calls, agreed.keys.opening, "open");
    const echo = { source: "10.99.0.2", destination: "10.99.0.1", protocol: "echo" } as const;
    const packet = packetOf({ ...echo, payload: Buffer.alloc(36, 7) });
    memory.bytes.set(packet, 2048);
    sealing.seal(0, memory.address + 2048, packet.length, memory.address + 1024);
    const header = Buffer.alloc(16);
    header[0] = 4;
    header.writeUInt32LE(agreed.senderIndex, 4);
    const sealed = memory.bytes.subarray(1024, 1024 + packet.length + 16);
    const answer = exchange(Buffer.concat([header, sealed]));
    expect([answer[0], answer.readUInt32LE(4)]).toEqual([4, 77]);
    const byteCount = answer.length - 32;
    memory.bytes.set(answer.subarray(16), 0);
    const counter = Number(answer.readBigUInt64LE(8));
    expect(opening.open(counter, memory.address, byteCount, memory.address)).toBe(true);
    const reply = Buffer.from(memory.bytes.subarray(0, packet.length));
    expect(hasRightChecksums(reply)).toBe(true);
    expect([...reply.subarray(12, 21)]).toEqual([10, 99, 0, 1, 10, 99, 0, 2, 0]);
    sealing.free();
    opening.free();
  });
});

/** As `wg` would tell it. */
async function configure(lines: readonly string[]): Promise<void> {
  const socket = connect(`/var/run/wireguard/${DEVICE}.sock`);
  await once(socket, "connect");
  socket.write(`set=1\n${lines.join("\n")}\n\n`);
  const [answer] = await once(socket, "data");
  socket.destroy();
  expect(String(answer)).toBe("errno=0\n\n");
}
