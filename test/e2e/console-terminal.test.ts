import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { Screen } from "../../src/control/console/screen.fixture.ts";
import { runCli } from "../support/cli.ts";
import { freePort } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";
import { startUp } from "./cli-instance.ts";
import { makeStateFolder, NO_PORTS } from "./up-fixture.ts";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const TERMINAL = "script";
const COLUMNS = 80;

/** `portolan ARGS` on a terminal of its own, and what is to be seen there. */
function openTerminal(...args: readonly string[]): {
  readonly screen: Screen;
  readonly ended: Promise<number | null>;
  type(keys: string): void;
} {
  const command = `stty cols ${COLUMNS} rows 24; exec "${process.execPath}" "${MAIN}" ${args.map((arg) => `"${arg}"`).join(" ")}`;
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
  timeout: 60_000,
}, async () => {
  const up = await startUp();
  const first = openTerminal("console", "--state", up.state);
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

  const second = openTerminal("console", "--state", up.state);
  await second.screen.waitFor(/\n>$/);
  second.type("\u001b[A\u001b[A");
  await second.screen.waitFor(/\n> list ups$/);
  second.type("\u0003");
  await second.screen.waitFor(/Ctrl-C again.*\n>$/);
  second.type("\u0003");
  expect(await second.ended).toBe(0);
});

test("a console is opened by a command on the terminal that an instance was started on", {
  ...requires("linux", TERMINAL),
  timeout: 60_000,
}, async () => {
  const state = makeStateFolder();
  const terminal = openTerminal("up", "--state", state, "--loops", "1", ...NO_PORTS);
  await terminal.screen.waitFor(/what commands make is kept in/);
  const give = (line: string) => runCli(["console", "--state", state, "-e", line]);
  expect(await give("add stdio-controller stdio")).toMatchObject({ code: 0, stdout: "(done)\n" });
  await terminal.screen.waitFor(/\n>$/);
  terminal.type("add upstream u0\r");
  await terminal.screen.waitFor(/\(done\)\n>$/);
  expect(await give("list stdio-controller")).toMatchObject({ stdout: "stdio\n" });
  terminal.type("exit\r");
  await terminal.screen.waitFor(/this console has ended/);
  // The instance goes on.
  expect(await give("list upstream")).toMatchObject({ code: 0, stdout: "u0\n" });
  expect(await give("shutdown")).toMatchObject({ code: 0 });
  expect(await terminal.ended).toBe(0);
});
