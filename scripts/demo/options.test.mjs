import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseDemoOptions, STANDARD_PORTS } from "./options.mjs";

test("without options everything listens where the quick start says", () => {
  expect(parseDemoOptions([])).toEqual({ ...STANDARD_PORTS, state: undefined });
  const text = readFileSync(new URL("../../examples/quickstart.yaml", import.meta.url), "utf8");
  const { port, socks5Port, serverPorts } = STANDARD_PORTS;
  for (const number of [port, socks5Port, ...serverPorts]) {
    expect(text.split(`127.0.0.1:${number}`)).toHaveLength(2);
  }
});

test("every port can be chosen", () => {
  const args = ["--port", "1", "--socks5-port", "2", "--server-ports", "3,4,5", "--resp-port", "6"];
  const more = ["--http-port", "7", "--metrics-port", "8", "--health-port", "9", "--state", "/x"];
  expect(parseDemoOptions([...args, ...more])).toEqual({
    port: 1,
    socks5Port: 2,
    serverPorts: [3, 4, 5],
    respPort: 6,
    httpPort: 7,
    metricsPort: 8,
    healthPort: 9,
    state: "/x",
  });
});

test.each([
  [["--port", "0"], /--port: "0" is not valid; expected a port from 1 to 65535/],
  [["--port", "65536"], /--port: "65536"/],
  [["--server-ports", "1,2"], /--server-ports: "1,2" is not valid; expected three ports/],
  [["--prot", "1"], /--prot.*\nnpm start -- --help/s],
])("%j is refused", (args, message) => {
  expect(() => parseDemoOptions(args)).toThrow(message);
});

test("help names every option", () => {
  const help = parseDemoOptions(["--help"]);
  const names = Object.keys(parseDemoOptions([])).map((name) =>
    name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
  );
  for (const name of names) expect(help).toContain(`--${name} `);
});
