import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { Screen } from "../../src/control/console/screen.fixture.ts";
import { freePort } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";
import { startUp } from "./cli-instance.ts";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const TERMINAL = "script";
const COLUMNS = 80;

/** `portolan console` on a terminal of its own, and what is to be seen there. */
function openTerminal(state: string): {
  readonly screen: Screen;
  readonly ended: Promise<number | null>;
  type(keys: string): void;
} {
  const command = `stty cols ${COLUMNS} rows 24; exec "${process.execPath}" "${MAIN}" console --state "${state}"`;
  const child = spawn(TERMINAL, ["-qefc", command, "/dev/null"], {
    env: { ...process.env, TERM: "xterm", NO_COLOR: "1" },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const screen = new Screen(COLUMNS);
  child.stdout.setEncoding("utf8").on("data", (text) => void screen.write(String(text)));
  return {
    screen,
    ended: new Promise((resolve) => child.on("close", (code) => resolve(code))),
    type: (keys) => void child.stdin.write(keys),
  };
}

test("the console on a real terminal: prompt, completion, events, history", {
  ...requires("linux", TERMINAL),
  timeout: 120_000,
}, async () => {
  const up = await startUp();
  const first = openTerminal(up.state);
  await first.screen.waitFor(/^portolan .* \(pid \d+\); man explains, exit ends\n>$/);
  first.type("add upst");
  await first.screen.waitFor(/\n> add upst$/);
  first.type("\t");
  await first.screen.waitFor(/\n> add upstream$/);
  first.type("u0\r");
  await first.screen.waitFor(/\n> add upstream u0\n\(done\)\n>$/);
  first.type("list ups");
  await first.screen.waitFor(/\n> list ups$/);
  // Meanwhile somebody else makes something that fails.
  const stdin = [
    "add server-group g0 protocol tcp period 100 timeout 100 up 1 down 1",
    `add server s1 to server-group g0 address 127.0.0.1:${await freePort()}`,
    "add server-group g0 to upstream u0",
    `add tcp-lb lb0 address 127.0.0.1:${await freePort()} upstream u0`,
  ].join("\n");
  expect(await up.run(["console"], { stdin })).toMatchObject({ code: 0, stderr: "" });
  await first.screen.waitFor(/warn: server s1 [\s\S]* is down: ECONNREFUSED\n[\s\S]*> list ups$/);
  first.type("\r");
  await first.screen.waitFor(/\n> list ups\nu0\n>$/);
  first.type("exit\r");
  expect(await first.ended).toBe(0);

  const second = openTerminal(up.state);
  await second.screen.waitFor(/\n>$/);
  second.type("\u001b[A\u001b[A");
  await second.screen.waitFor(/\n> list ups$/);
  second.type("\u0003");
  await second.screen.waitFor(/Ctrl-C again.*\n>$/);
  second.type("\u0003");
  expect(await second.ended).toBe(0);
});
