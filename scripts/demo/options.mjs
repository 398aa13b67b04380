import { parseArgs } from "node:util";
import { StepError } from "../lib/command.mjs";

/**
 * @typedef {object} DemoPorts where everything of the demo listens, on loopback
 * @property {number} port the load balancer
 * @property {number} socks5Port
 * @property {number} respPort
 * @property {number} httpPort
 * @property {number} metricsPort
 * @property {number} healthPort
 * @property {readonly [number, number, number]} serverPorts the three servers behind
 *
 * @typedef {DemoPorts & { readonly state: string | undefined }} DemoOptions
 */

/** @type {DemoPorts} those of examples/quickstart.yaml, and what `portolan up` takes */
export const STANDARD_PORTS = {
  port: 8080,
  socks5Port: 1080,
  respPort: 16309,
  httpPort: 18776,
  metricsPort: 10249,
  healthPort: 10256,
  serverPorts: [9001, 9002, 9003],
};

const HELP = `npm start [-- OPTIONS]

Runs examples/quickstart.yaml: a load balancer with three small servers behind it, a SOCKS5 server,
and the controllers of a running instance, all on 127.0.0.1. Ctrl-C ends it.

  --port N             the load balancer (8080)
  --socks5-port N      the SOCKS5 server (1080)
  --server-ports N,N,N the three servers behind (9001,9002,9003)
  --resp-port N        the controller for redis-cli (16309)
  --http-port N        the controller for HTTP, with the page of its API (18776)
  --metrics-port N     Prometheus metrics (10249)
  --health-port N      health of the instance (10256)
  --state DIR          the folder of the instance (portolan/demo in the user's state folder)
`;

/**
 * @param {readonly string[]} args
 * @returns {DemoOptions | string} the options, or the help where that is asked for
 */
export function parseDemoOptions(args) {
  const values = parse(args);
  if (values.help) return HELP;
  const port = (/** @type {string} */ name, /** @type {number} */ standard) => {
    const text = values[name];
    return typeof text === "string" ? parsePort(name, text) : standard;
  };
  const { state } = values;
  return {
    port: port("port", STANDARD_PORTS.port),
    socks5Port: port("socks5-port", STANDARD_PORTS.socks5Port),
    respPort: port("resp-port", STANDARD_PORTS.respPort),
    httpPort: port("http-port", STANDARD_PORTS.httpPort),
    metricsPort: port("metrics-port", STANDARD_PORTS.metricsPort),
    healthPort: port("health-port", STANDARD_PORTS.healthPort),
    serverPorts: parseServerPorts(values["server-ports"]),
    state: typeof state === "string" ? state : undefined,
  };
}

/**
 * @param {readonly string[]} args
 * @returns {Record<string, string | boolean | undefined>}
 */
function parse(args) {
  const text = /** @type {const} */ ({ type: "string" });
  const names = [
    "port",
    "socks5-port",
    "server-ports",
    "resp-port",
    "http-port",
    "metrics-port",
    "health-port",
    "state",
  ];
  const options = Object.fromEntries(names.map((name) => [name, text]));
  try {
    const help = /** @type {const} */ ({ type: "boolean", short: "h" });
    return { ...parseArgs({ args: [...args], options: { ...options, help } }).values };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StepError(`${why}\nnpm start -- --help says what there is`);
  }
}

/**
 * @param {string} name
 * @param {string} text
 */
function parsePort(name, text) {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port > 0 && port < 65_536) return port;
  throw new StepError(`--${name}: "${text}" is not valid; expected a port from 1 to 65535`);
}

/**
 * @param {string | boolean | undefined} text
 * @returns {readonly [number, number, number]}
 */
function parseServerPorts(text) {
  if (typeof text !== "string") return STANDARD_PORTS.serverPorts;
  const [first, second, third, ...more] = text
    .split(",")
    .map((part) => parsePort("server-ports", part));
  if (first !== undefined && second !== undefined && third !== undefined && more.length === 0) {
    return [first, second, third];
  }
  throw new StepError(
    `--server-ports: "${text}" is not valid; expected three ports: 9001,9002,9003`,
  );
}
