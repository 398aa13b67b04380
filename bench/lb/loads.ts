import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { numbersFrom } from "../support/results.ts";

/** One way of using a proxy. */
export interface Load {
  readonly name: string;
  /** What it is called on the command line. */
  readonly part: string;
  /** What is counted, in a table. */
  readonly unit: string;
  readonly connections: number;
  readonly isBulk: boolean;
  readonly path: string;
  readonly headers: readonly string[];
  /** What a run amounts to, in the unit. */
  amount(result: WrkResult): number;
}

const BYTES_A_GIGABYTE = 1e9;

export const LOADS: readonly Load[] = [
  {
    name: "keep-alive requests",
    part: "keep-alive",
    unit: "requests",
    connections: 64,
    isBulk: false,
    path: "/small",
    headers: [],
    amount: ({ requests }) => requests,
  },
  {
    name: "short connections",
    part: "short",
    unit: "connections",
    connections: 64,
    isBulk: false,
    path: "/small",
    headers: ["Connection: close"],
    amount: ({ requests }) => requests,
  },
  {
    name: "bulk bytes",
    part: "bulk",
    unit: "GB",
    connections: 8,
    isBulk: true,
    path: "/bulk",
    headers: [],
    amount: ({ bytes }) => bytes / BYTES_A_GIGABYTE,
  },
];

/** What wrk counted. */
export interface WrkResult {
  readonly requests: number;
  readonly bytes: number;
  readonly errors: number;
}

/** wrk's own summary is for people: this one is for us. */
const SCRIPT = `
done = function(summary)
  local e = summary.errors
  io.write(string.format('\\nRESULT {"requests":%d,"bytes":%d,"errors":%d}\\n',
    summary.requests, summary.bytes, e.connect + e.read + e.write + e.status + e.timeout))
end
`;

/** Runs a load against a port of this machine. @throws where a request fails */
export async function runLoad(
  load: Load,
  port: number,
  {
    seconds,
    folder,
    scheme = "http",
  }: { readonly seconds: number; readonly folder: string; readonly scheme?: "http" | "https" },
): Promise<WrkResult> {
  const script = join(folder, "wrk.lua");
  writeFileSync(script, SCRIPT);
  const args = ["-t1", `-c${load.connections}`, `-d${seconds}s`, "--timeout", "10s", "-s", script];
  for (const header of load.headers) args.push("-H", header);
  const output = await outputOf("wrk", [...args, `${scheme}://127.0.0.1:${port}${load.path}`]);
  const [, json = ""] = /^RESULT (.*)$/m.exec(output) ?? [];
  const result = numbersFrom(JSON.parse(json), ["requests", "bytes", "errors"]);
  if (result.errors > 0) throw new Error(`${load.name}: ${result.errors} requests failed`);
  return result;
}

function outputOf(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${program} ended with ${code}: ${output}`));
    });
  });
}
