import { createServer } from "node:net";

/**
 * @typedef {object} WantedPort
 * @property {number} port
 * @property {string} use what would listen there
 * @property {string} option how to choose another
 *
 * @typedef {(port: number) => string | undefined} FindHolder who has a port, in words
 */

const HOST = "127.0.0.1";

/**
 * A message for each port that can not be had; empty where all can.
 * @param {readonly WantedPort[]} wanted
 * @param {FindHolder} findHolder
 * @returns {Promise<readonly string[]>}
 */
export async function describeTaken(wanted, findHolder) {
  /** @type {string[]} */
  const lines = [];
  /** @type {Map<number, string>} */
  const uses = new Map();
  for (const { port, use, option } of wanted) {
    const other = uses.get(port);
    uses.set(port, use);
    if (other !== undefined) {
      lines.push(`port ${port}, for ${use}, is the one for ${other}; choose another: ${option}`);
      continue;
    }
    const code = await tryPort(port);
    if (code === undefined) continue;
    lines.push(
      `port ${port}, for ${use}, ${reason(code, port, findHolder)}; choose another: ${option}`,
    );
  }
  return lines;
}

/**
 * @param {string} code
 * @param {number} port
 * @param {FindHolder} findHolder
 */
function reason(code, port, findHolder) {
  if (code === "EACCES") return "is not for everyone (EACCES)";
  if (code !== "EADDRINUSE") return `can not be had (${code})`;
  return `is taken by ${findHolder(port) ?? "another process, which only root can see"}`;
}

/**
 * Listens there for a moment.
 * @param {number} port
 * @returns {Promise<string | undefined>} why it can not be had
 */
function tryPort(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve("code" in error ? String(error.code) : error.message));
    server.listen(port, HOST, () => server.close(() => resolve(undefined)));
  });
}
