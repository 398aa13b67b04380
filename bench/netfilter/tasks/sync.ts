/**
 * `sync BACKEND FILE NODE CHANGES [FLAGS [FOLDER]]`, in a network namespace of its own: prints what it
 * takes to bring a node's whole state to the kernel, and then one endpoint's change at a time; where
 * CHANGES is 0, a restart with the same state. What it programmed stays. FLAGS: options of the backend
 * as a JSON object. FOLDER: keeps there what programs were told at first.
 */
import { PassThrough } from "node:stream";
import * as z from "zod";
import type { Backend } from "../../../src/backends/backend.ts";
import { loadBackend } from "../../../src/backends/registry.ts";
import type { Log } from "../../../src/core/log.ts";
import type { Endpoint } from "../../../src/core/model/endpoint.ts";
import { flagLayer, resolveOptions } from "../../../src/core/options/resolve-options.ts";
import type { Sink } from "../../../src/core/sinks/sink.ts";
import { NodeWatcher } from "../../../src/core/view/node-watcher.ts";
import type { Op } from "../../../src/core/view/ops.ts";
import { type Exec, type ExecOptions, systemExec } from "../../../src/platform/linux/exec.ts";
import { createStoreFrom, OWNER } from "../../support/cluster-store.ts";
import { median, residentMegabytes } from "../../support/measure.ts";
import { createRandom } from "../../support/random.ts";
import { writeToolCall } from "../tool-calls.ts";

const SEED = 4711;
const MICROSECONDS_A_MILLISECOND = 1000;

const LOG: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: (fields, message) => console.error(message, fields),
  error: (fields, message) => console.error(message, fields),
};

/** Time that went by in programs of the system, which a backend waits for. */
class ToolTime {
  ms = 0;
  /** What they were told. */
  readonly calls: ToolCall[] = [];

  /** Counts from now on what `exec` runs. */
  watch(exec: Exec): void {
    const run = exec.run.bind(exec);
    exec.run = async (program, args, options = {}) => {
      const pieces: string[] = [];
      this.calls.push({ program, args, pieces });
      const start = performance.now();
      const result = await run(program, args, withCopies(options, pieces));
      this.ms += performance.now() - start;
      return result;
    };
  }

  /** Keeps what was told until now in a folder. */
  keep(folder: string): void {
    this.calls.forEach(({ program, args, pieces }, number) => {
      const stdin = pieces.join("");
      if (stdin !== "") writeToolCall(folder, number, { program, args, stdin });
    });
  }
}

interface ToolCall {
  readonly program: string;
  readonly args: readonly string[];
  /** What it read. */
  readonly pieces: readonly string[];
}

/** Keeps what a program reads, at the time when it reads it. */
function withCopies(options: ExecOptions, copies: string[]): ExecOptions {
  const { stdin } = options;
  if (stdin === undefined) return options;
  if (typeof stdin === "string") {
    copies.push(stdin);
    return options;
  }
  return { ...options, stdin: copied(stdin, copies) };
}

function* copied(pieces: Iterable<string>, copies: string[]): Generator<string> {
  for (const piece of pieces) {
    copies.push(piece);
    yield piece;
  }
}

interface Timed {
  readonly ms: number;
  readonly toolMs: number;
}

const [name = "", file = "", node = "", changes = "0", flags = "{}", kept = ""] =
  process.argv.slice(2);
const definition = await loadBackend(name);
if (definition === undefined) throw new Error(`there is no backend ${name}`);
const tools = new ToolTime();
tools.watch(systemExec);
const given = flagLayer(z.record(z.string(), z.string()).parse(JSON.parse(flags)));
const { values, problems } = resolveOptions(definition.options, [given]);
if (values === undefined) throw new Error(problems.map((one) => one.expected).join("; "));
const store = createStoreFrom(file);
const watcher = new NodeWatcher(store, node, definition.sets);
const ops = watcher.poll() ?? [];
const cpuBefore = process.cpuUsage();
const context = { nodeName: node, log: LOG, stdout: new PassThrough() };
const open = (): Promise<Backend> => definition.create(values, context);
const backend = await open();
await backend.sink.setup();
const first = await timed(() => send(backend.sink, ops));
const { user, system } = process.cpuUsage(cpuBefore);
if (kept !== "") tools.keep(kept);
tools.calls.length = 0;
// Direct connections to very many services follow the rules.
await backend.drain();
const singles: Timed[] = [];
const pick = endpointPicker(ops);
for (let round = 0; round < Number(changes); round += 1) {
  const endpoint = pick(round);
  store.transact(OWNER, (tx) => tx.set(endpoint));
  singles.push(await timed(() => send(backend.sink, watcher.poll() ?? [])));
}
const residentNow = residentMegabytes();
await backend.close();
const restart = Number(changes) > 0 ? { ms: 0, toolMs: 0 } : await timed(startAgain);
console.log(
  JSON.stringify({
    firstMs: first.ms,
    firstCpuMs: (user + system) / MICROSECONDS_A_MILLISECOND,
    changeMs: singles.length === 0 ? 0 : median(singles.map(({ ms }) => ms)),
    changeOwnMs: singles.length === 0 ? 0 : median(singles.map(({ ms, toolMs }) => ms - toolMs)),
    residentMegabytes: residentNow,
    restartMs: restart.ms,
    restartToolMs: restart.toolMs,
  }),
);
process.exit(0);

async function startAgain(): Promise<void> {
  const next = await open();
  await next.sink.setup();
  await send(next.sink, ops);
  await next.close();
}

async function timed(work: () => Promise<void>): Promise<Timed> {
  const [start, toolStart] = [performance.now(), tools.ms];
  await work();
  return { ms: performance.now() - start, toolMs: tools.ms - toolStart };
}

async function send(sink: Sink, batch: readonly Op[]): Promise<void> {
  await sink.waitRequest();
  for (const op of batch) {
    if (op.op === "reset") sink.reset();
    else await sink.send(op);
  }
}

/** Endpoints that the node uses, by lot, each with an address that it did not have before. */
function endpointPicker(whole: readonly Op[]): (round: number) => Endpoint {
  const random = createRandom(SEED);
  const endpoints = whole.flatMap((op) =>
    op.op === "set" && op.set === "endpoints" && isOfFirstFamily(op.value.endpoint)
      ? [op.value.endpoint]
      : [],
  );
  return (round) => {
    const endpoint = endpoints[Math.floor(random() * endpoints.length)];
    if (endpoint === undefined) throw new Error("no endpoint to change");
    return { ...endpoint, addresses: [`10.200.${(round >> 8) & 255}.${round & 255}`] };
  };
}

function isOfFirstFamily({ addresses, ready }: Endpoint): boolean {
  return ready && addresses.every((address) => !address.includes(":"));
}
