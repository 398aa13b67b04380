import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { STANDARD_PORTS } from "./options.mjs";
import { readyText, wantedPorts, withPorts } from "./texts.mjs";

const QUICKSTART = readFileSync(new URL("../../examples/quickstart.yaml", import.meta.url), "utf8");

test("the quick start is used as it is, unless other ports are wanted", () => {
  expect(withPorts(QUICKSTART, STANDARD_PORTS)).toBeUndefined();
  const text = withPorts(QUICKSTART, { ...STANDARD_PORTS, port: 9001, serverPorts: [9002, 7, 8] });
  expect([...(text ?? "").matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => port)).toEqual([
    "9001",
    "9002",
    "7",
    "8",
    "1080",
  ]);
});

test("every port is told with the option that chooses another", () => {
  const wanted = wantedPorts(STANDARD_PORTS);
  expect(wanted).toHaveLength(9);
  const flags = Object.keys(STANDARD_PORTS).map(
    (name) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
  );
  expect(new Set(wanted.map(({ flag }) => flag))).toEqual(new Set(flags));
});

test("three commands to try: curl first, then redis-cli, then the page", () => {
  const demo = { ports: STANDARD_PORTS, file: "a.yaml", state: "/state", hasRedisCli: true };
  const text = readyText(demo);
  const at = [
    "curl http://127.0.0.1:8080/",
    "redis-cli -p 16309 list-detail server in server-group web",
    "http://127.0.0.1:18776/",
  ].map((part) => text.indexOf(part));
  expect(at).not.toContain(-1);
  expect(at).toEqual(at.toSorted((a, b) => a - b));
  expect(text).not.toContain("without redis-cli");
  expect(readyText({ ...demo, hasRedisCli: false })).toContain(
    "npx portolan console --state /state",
  );
});
