import { STANDARD_PORTS } from "./options.mjs";

/** @typedef {import("./options.mjs").DemoPorts} DemoPorts */

/**
 * All ports of the demo, with what listens there.
 * @param {DemoPorts} ports
 * @returns {readonly import("./taken-ports.mjs").WantedPort[]}
 */
export function wantedPorts(ports) {
  return [
    { port: ports.port, use: "the load balancer", flag: "--port" },
    { port: ports.socks5Port, use: "the SOCKS5 server", flag: "--socks5-port" },
    ...ports.serverPorts.map((port, index) => ({
      port,
      use: `demo server ${index + 1}`,
      flag: "--server-ports",
    })),
    { port: ports.respPort, use: "redis-cli", flag: "--resp-port" },
    { port: ports.httpPort, use: "the HTTP API", flag: "--http-port" },
    { port: ports.metricsPort, use: "metrics", flag: "--metrics-port" },
    { port: ports.healthPort, use: "health", flag: "--health-port" },
  ];
}

/**
 * The quick start with other ports; undefined where it can be used as it is.
 * @param {string} text
 * @param {DemoPorts} ports
 */
export function withPorts(text, ports) {
  const before = [STANDARD_PORTS.port, STANDARD_PORTS.socks5Port, ...STANDARD_PORTS.serverPorts];
  const after = [ports.port, ports.socks5Port, ...ports.serverPorts];
  if (before.every((port, index) => port === after[index])) return undefined;
  // In one pass: what is put in is not to be found again.
  return text.replace(/127\.0\.0\.1:(\d+)/g, (whole, port) => {
    const index = before.indexOf(Number(port));
    return index < 0 ? whole : `127.0.0.1:${after[index]}`;
  });
}

/**
 * What is printed once everything runs.
 * @param {{ ports: DemoPorts, file: string, state: string, hasRedisCli: boolean }} demo
 */
export function readyText({ ports, file, state, hasRedisCli }) {
  const redis = `redis-cli -p ${ports.respPort} list-detail server in server-group web`;
  const command = hasRedisCli
    ? redis
    : `${redis}\n      (without redis-cli, the same typed at: npx portolan console --state ${state})`;
  return `
Portolan is running. It listens on this machine only:

${listing([
  [ports.port, `load balancer for HTTP, in front of ports ${ports.serverPorts.join(", ")}`],
  [ports.socks5Port, "SOCKS5 server"],
  [ports.respPort, "commands by redis-cli, without a password"],
  [ports.httpPort, "commands by HTTP, and a page to look at; without a token"],
])}

Try, in another terminal:

  1.  curl http://127.0.0.1:${ports.port}/hello
  2.  ${command}
  3.  http://127.0.0.1:${ports.httpPort}/   (the API, and what runs, in a browser)

More of it, there:  export PORTOLAN_STATE=${state}
  then  npx portolan status, top, console, get, watch, apply -f FILE; npx portolan --help

It follows ${file}: change that, and what changed is done.
Ctrl-C ends it.
`;
}

/** @param {readonly (readonly [port: number, use: string])[]} rows */
function listing(rows) {
  const width = Math.max(...rows.map(([port]) => String(port).length));
  return rows.map(([port, use]) => `  127.0.0.1:${String(port).padEnd(width)}  ${use}`).join("\n");
}
