import { expect, test } from "vitest";
import { socketAddress } from "./socket-address.ts";

test("a socket is its file; on Windows a pipe of its own for each file, however that is written", () => {
  expect(socketAddress("/var/lib/portolan/instance.sock", "linux")).toBe(
    "/var/lib/portolan/instance.sock",
  );
  const pipe = socketAddress("C:\\State\\instance.sock", "win32");
  expect(pipe).toMatch(/^\\\\\.\\pipe\\portolan-[0-9a-f]{16}$/);
  expect(socketAddress("c:\\state\\other\\..\\instance.sock", "win32")).toBe(pipe);
  expect(socketAddress("C:\\other\\instance.sock", "win32")).not.toBe(pipe);
});
