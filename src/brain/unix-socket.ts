import { chmod, lstat, unlink } from "node:fs/promises";
import { connect } from "node:net";
import { CoreError } from "../core/errors.ts";

/** The owner and its group may connect. */
const SOCKET_MODE = 0o660;

/**
 * Removes a socket that a dead server left behind.
 * @throws CoreError ERR_LISTEN where a server answers on it, or something else has that name
 */
export async function removeStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new CoreError(
      "ERR_LISTEN",
      `unix:${path} exists and is not a socket; choose another path`,
    );
  }
  if (await isAnswered(path)) {
    throw new CoreError("ERR_LISTEN", `unix:${path} is in use by another server`);
  }
  await unlink(path);
}

export async function restrictSocket(path: string): Promise<void> {
  await chmod(path, SOCKET_MODE);
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const settle = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.once("connect", () => settle(true));
    socket.once("error", () => settle(false));
  });
}
