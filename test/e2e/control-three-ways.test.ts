import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { generate } from "selfsigned";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { tokenize } from "../../src/control/grammar/tokenize.ts";
import { type CommandPlace, hundredCommands } from "../../src/control/hundred-commands.fixture.ts";
import type { Result } from "../../src/control/result.ts";
import { freePortBlock } from "../support/free-ports.ts";
import { redisCli } from "../support/redis-cli.ts";
import { requires } from "../support/requires.ts";
import { startUp, type UpInstance } from "./cli-instance.ts";

const run = promisify(execFile);
/** A process for each command takes its time. */
const SLOW = { timeout: 180_000 };
/** As many as the commands may use. */
const PORTS = 12;
const ARGS = ["--allow-system-commands"];

let typed: readonly unknown[] = [];
let place: CommandPlace;

/** The same for all three: results name files and ports. */
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "portolan-three-"));
  const pems = await generate([{ name: "commonName", value: "a.example" }], { keyType: "ec" });
  place = {
    firstPort: await freePortBlock(PORTS),
    certFile: join(folder, "site.pem"),
    keyFile: join(folder, "site.key"),
    folder,
  };
  writeFileSync(place.certFile, pems.cert);
  writeFileSync(place.keyFile, pems.private);
  return () => rmSync(folder, { recursive: true, force: true });
});

/** What a command came to, in one form whichever way it went. */
function outcome(answer: Result | { readonly code: string }): unknown {
  if ("code" in answer) return { refused: answer.code };
  switch (answer.kind) {
    case "done":
      return answer.note === "" ? "OK" : `OK ${answer.note}`;
    case "names":
      return answer.names;
    case "records":
      return answer.records;
    case "number":
      return answer.value;
    case "text":
      return answer.text;
  }
}

async function startInstance(): Promise<UpInstance> {
  const instance = await startUp({ args: ARGS });
  onTestFinished(async () => void (await instance.up.stop()));
  return instance;
}

async function addressOf({ until }: UpInstance, type: string): Promise<string> {
  const find = (all: readonly { readonly type: string; readonly address: string }[]) =>
    all.find((one) => one.type === type)?.address;
  const { controllers } = await until((status) => find(status.controllers) !== undefined);
  return find(controllers) ?? "";
}

test("a hundred commands, typed", SLOW, async () => {
  const instance = await startInstance();
  const commands = hundredCommands(place);
  const stdin = commands.map(({ line }) => `${line}\n`).join("");
  const { stdout, code } = await instance.run(["console", "--json"], { stdin });
  typed = stdout
    .trimEnd()
    .split("\n")
    .map((line) => outcome(JSON.parse(line)));
  expect(code).not.toBe(0);
  const refusals = typed.map((one) => Reflect.get(Object(one), "refused"));
  expect(refusals).toEqual(commands.map(({ refused }) => refused));
});

test("by redis-cli they come to the same", { ...requires("redis-cli"), ...SLOW }, async () => {
  const address = await addressOf(await startInstance(), "resp-controller");
  const port = Number(address.split(":").at(-1));
  const answers: unknown[] = [];
  for (const { line } of hundredCommands(place)) {
    const words = tokenize(line).map(({ text }) => text);
    const text = await redisCli(port, ["-3", "--json", ...words]);
    const [, refused] = /\bERR (ERR_[A-Z_]+) /.exec(text) ?? [];
    answers.push(refused === undefined ? JSON.parse(text) : { refused });
  }
  expect(answers).toEqual(typed);
});

test("by curl they come to the same", { ...requires("curl"), ...SLOW }, async () => {
  const address = await addressOf(await startInstance(), "http-controller");
  const answers: unknown[] = [];
  for (const { line } of hundredCommands(place)) {
    const body = JSON.stringify({ command: line });
    const url = `http://${address}/api/v1/command`;
    const { stdout } = await run("curl", ["-sS", "--json", body, url]);
    answers.push(outcome(JSON.parse(stdout)));
  }
  expect(answers).toEqual(typed);
});
