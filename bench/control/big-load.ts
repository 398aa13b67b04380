import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Api } from "./api.ts";

/** What a large load took, and how long others waited meanwhile. */
export interface BigLoad {
  readonly loadMs: number;
  readonly looksMs: readonly number[];
  readonly changesMs: readonly number[];
}

const SERVERS_A_GROUP = 97;
const PAUSE_MS = 10;
const OWN = "aside";

/** Loads so many commands from a file, by the console, while others look and change through the API. */
export async function loadMany(api: Api, folder: string, commands: number): Promise<BigLoad> {
  const file = join(folder, "many.conf");
  writeFileSync(file, linesOf(commands).join("\n"));
  const state = { isOver: false };
  const probe = async (act: (count: number) => Promise<void>): Promise<readonly number[]> => {
    const timesMs: number[] = [];
    while (!state.isOver) {
      const startMs = performance.now();
      await act(timesMs.length);
      timesMs.push(performance.now() - startMs);
      await api.pause(PAUSE_MS);
    }
    return timesMs;
  };
  const looks = probe(() => api.call("GET", "event-loop-group"));
  const changes = probe((count) =>
    count % 2 === 0
      ? api.call("POST", "server-group", { name: OWN })
      : api.call("DELETE", `server-group/${OWN}`),
  );
  const startMs = performance.now();
  await type(`load ${file}`, join(folder, "state"));
  const loadMs = performance.now() - startMs;
  state.isOver = true;
  return { loadMs, looksMs: await looks, changesMs: await changes };
}

function linesOf(commands: number): readonly string[] {
  const lines: string[] = [];
  for (let group = 0; lines.length < commands; group += 1) {
    const name = `many${group}`;
    lines.push(`add upstream ${name}`, `add server-group ${name}`);
    lines.push(`add server-group ${name} to upstream ${name}`);
    for (let server = 1; server <= SERVERS_A_GROUP; server += 1) {
      lines.push(`add server s${server} to server-group ${name} address 127.0.0.1:${server}`);
    }
  }
  return lines.slice(0, commands);
}

async function type(line: string, state: string): Promise<void> {
  const main = fileURLToPath(new URL("../../../../dist/cli/main.js", import.meta.url));
  const child = spawn(process.execPath, [main, "console", "--state", state], {
    stdio: ["pipe", "inherit", "inherit"],
  });
  child.stdin.end(`${line}\n`);
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`console: ${line}: exit code ${code}`);
}
