import { createSocket, type SocketType } from "node:dgram";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";

/** For documentation only: no machine has it. */
const FOREIGN = "203.0.113.10";

test("a program can not listen on an address that its machine does not have", async () => {
  const server = createServer().listen(0, FOREIGN);
  const [error] = await once(server, "error");
  expect(error).toMatchObject({ code: "EADDRNOTAVAIL" });
});

test("a program can not call with an address that its machine does not have", async () => {
  const socket = connect({ host: "127.0.0.1", port: 1, localAddress: FOREIGN });
  const [error] = await once(socket, "error");
  expect(error).toMatchObject({ code: expect.stringMatching(/^(EADDRNOTAVAIL|EINVAL)$/) });
});

test("there are no SCTP sockets", () => {
  const type: string = "sctp4";
  // The type names what there is; this asks for what there is not.
  expect(() => createSocket(type as SocketType)).toThrow(
    expect.objectContaining({ code: "ERR_SOCKET_BAD_TYPE" }),
  );
});

test("a TCP handshake is completed while the program does nothing", async () => {
  const worker = new Worker(
    `const { parentPort } = require("node:worker_threads");
     const server = require("node:net").createServer().listen(0, "127.0.0.1", () => {
       parentPort.postMessage(server.address().port);
       parentPort.once("message", (memory) => {
         parentPort.postMessage("blocked");
         Atomics.wait(new Int32Array(memory), 0, 0);
         process.exit();
       });
     });`,
    { eval: true },
  );
  const [port] = await once(worker, "message");
  const memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  worker.postMessage(memory);
  await once(worker, "message");
  const client = connect(Number(port), "127.0.0.1");
  await once(client, "connect");
  client.destroy();
  Atomics.store(new Int32Array(memory), 0, 1);
  Atomics.notify(new Int32Array(memory), 0);
  await once(worker, "exit");
});
