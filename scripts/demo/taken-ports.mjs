import { createServer } from "node:net";
import process from "node:process";

/**
 * @typedef {object} WantedPort
 * @property {number} port
 * @property {string} use what would listen there
 * @property {string} flag how to choose another; those with the same flag are chosen together
 *
 * @typedef {(port: number) => string | undefined} FindHolder who has a port, in words
 */

const HOST = "127.0.0.1";
const LAST_PORT = 65_535;

/**
 * A line for each port that can not be had, and one with how to choose others; none where all can.
 * @param {readonly WantedPort[]} wanted
 * @param {FindHolder} findHolder
 * @param {boolean} isRoot whether every process can be seen
 * @returns {Promise<readonly string[]>}
 */
export async function describeTaken(wanted, findHolder, isRoot = process.getuid?.() === 0) {
  /** @type {string[]} */
  const lines = [];
  /** @type {Map<string, number[]>} */
  const chosen = new Map();
  /** @type {Set<string>} */
  const flags = new Set();
  const own = new Set(wanted.map(({ port }) => port));
  for (const [index, { port, use, flag }] of wanted.entries()) {
    const why = await whyNot(wanted, index, findHolder, isRoot);
    const ports = chosen.get(flag) ?? [];
    chosen.set(flag, ports);
    ports.push(why === undefined ? port : await nextFree(port, own));
    if (why === undefined) continue;
    flags.add(flag);
    lines.push(`port ${port}, for ${use}, ${why}`);
  }
  if (lines.length === 0) return [];
  const options = [...flags].map((flag) => `${flag} ${chosen.get(flag)?.join(",")}`);
  return [...lines, `choose others: npm start -- ${options.join(" ")}`];
}

/**
 * @param {readonly WantedPort[]} wanted
 * @param {number} index
 * @param {FindHolder} findHolder
 * @param {boolean} isRoot
 */
async function whyNot(wanted, index, findHolder, isRoot) {
  const port = wanted[index]?.port ?? 0;
  const other = wanted.slice(0, index).find((one) => one.port === port);
  if (other !== undefined) return `is the one for ${other.use}`;
  const code = await tryPort(port);
  if (code === undefined) return undefined;
  if (code === "EACCES") return "is not for everyone (EACCES)";
  if (code !== "EADDRINUSE") return `can not be had (${code})`;
  return `is taken by ${findHolder(port) ?? unseenHolder(isRoot)}`;
}

/**
 * Root sees every process of its own, so there it may be no listener at all that has the port.
 * @param {boolean} isRoot
 */
function unseenHolder(isRoot) {
  return isRoot
    ? "another process or an outgoing connection"
    : "another process, which only root can see";
}

/**
 * A port above that nobody has, and that is not wanted either.
 * @param {number} port
 * @param {Set<number>} own those that are wanted; the one that is found becomes one of them
 */
async function nextFree(port, own) {
  for (let next = port + 1; next <= LAST_PORT; next++) {
    if (own.has(next) || (await tryPort(next)) !== undefined) continue;
    own.add(next);
    return next;
  }
  return port;
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
