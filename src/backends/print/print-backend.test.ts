import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { load } from "js-yaml";
import { afterEach, expect, test } from "vitest";
import { endpointSchema } from "../../core/model/endpoint.ts";
import { serviceSchema } from "../../core/model/service.ts";
import type { Sink } from "../../core/sinks/sink.ts";
import { type Op, RESET, SYNC } from "../../core/view/ops.ts";
import type { BackendContext } from "../backend.ts";
import { loadBackend } from "../registry.ts";
import { createOpSink } from "./op-sink.ts";
import { createPrintBackend } from "./print-backend.ts";
import { renderOp } from "./render-op.ts";

type Format = "ops" | "brief" | "yaml" | "json";

const SERVICE: Op = {
  op: "set",
  set: "services",
  path: "default/web",
  value: {
    key: "default/web",
    service: serviceSchema.parse({ kind: "Service", name: "web", ports: [{ port: 80 }] }),
    usable: [["v4"]],
  },
};
const ENDPOINT: Op = {
  op: "set",
  set: "endpoints",
  path: "default/web/a",
  value: {
    path: "default/web/a",
    service: "default/web",
    group: "default/web",
    endpoint: endpointSchema.parse({
      kind: "Endpoint",
      group: "web",
      name: "a",
      addresses: ["10.0.0.1"],
    }),
    local: true,
    ports: [{ name: "", target: 8080, clusterFor: ["v4"], localFor: ["v4"] }],
  },
};

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

const silent = (): void => undefined;

function contextWith(stdout: NodeJS.WritableStream): BackendContext {
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  return { nodeName: "node-a", log, stdout };
}

async function play(sink: Sink, ops: readonly Op[]): Promise<void> {
  await sink.setup();
  for (const op of ops) {
    if (op.op === "reset") sink.reset();
    else await sink.send(op);
  }
}

async function printed(format: Format, ops: readonly Op[]): Promise<string> {
  const stdout = new PassThrough();
  const backend = await createPrintBackend({ format, printOutput: "-" }, contextWith(stdout));
  await play(backend.sink, ops);
  await backend.close();
  return String(stdout.read() ?? "");
}

test("ops: a line for each, all of a change at its sync", async () => {
  const text = await printed("ops", [
    RESET,
    SERVICE,
    SYNC,
    { op: "delete", set: "services", path: "default/web" },
    SYNC,
  ]);
  const lines = text.split("\n");
  expect(lines[1]).toMatch(/^set services default\/web \{"key":"default\/web","service":\{/);
  expect(lines.toSpliced(1, 1)).toEqual([
    "reset",
    "sync",
    "delete services default/web",
    "sync",
    "",
  ]);
  expect(await printed("ops", [RESET, SERVICE])).toBe("");
});

test("brief: what people look for, a line for each", async () => {
  const text = await printed("brief", [RESET, SERVICE, ENDPOINT, SYNC]);
  expect(text.split("\n")).toEqual([
    "reset",
    "set services default/web  ClusterIP 80/TCP",
    "set endpoints default/web/a  10.0.0.1:8080 (local)",
    "sync",
    "",
  ]);
});

test("json: the whole state in one line at each sync", async () => {
  const text = await printed("json", [RESET, SERVICE, ENDPOINT, SYNC, SYNC]);
  const [first, second] = text.trim().split("\n");
  expect(second).toBe(first);
  expect(JSON.parse(first ?? "")).toMatchObject({
    node: "node-a",
    services: [
      {
        key: "default/web",
        service: { name: "web", clusterIPs: [] },
        endpoints: [{ path: "default/web/a", local: true }],
      },
    ],
    listeners: [],
  });
});

test("yaml: one document a sync, without what is empty", async () => {
  const text = await printed("yaml", [RESET, SERVICE, ENDPOINT, SYNC]);
  expect(text.startsWith("---\n")).toBe(true);
  expect(text).not.toContain("clusterIPs");
  expect(load(text)).toMatchObject({
    node: "node-a",
    services: [{ key: "default/web", endpoints: [{ path: "default/web/a", local: true }] }],
    nodes: [],
  });
});

test("prints to a file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "portolan-print-"));
  folders.push(folder);
  const file = join(folder, "ops.txt");
  const context = contextWith(new PassThrough());
  const backend = await createPrintBackend({ format: "ops", printOutput: file }, context);
  await play(backend.sink, [RESET, SYNC]);
  await backend.close();
  expect(await readFile(file, "utf8")).toBe("reset\nsync\n");
});

test("a file that can not be written is named", async () => {
  const printOutput = join(tmpdir(), "no", "such", "folder", "x");
  const context = contextWith(new PassThrough());
  await expect(createPrintBackend({ format: "ops", printOutput }, context)).rejects.toMatchObject({
    code: "ERR_NOT_POSSIBLE_HERE",
    message: expect.stringContaining(printOutput),
  });
});

test("where a write fails, the sync rejects and the next one prints all lines", async () => {
  let failures = 1;
  let text = "";
  const sink = createOpSink({ nodeName: "node-a", sets: [] }, renderOp, async (lines) => {
    if (failures-- > 0) throw new Error("disk full");
    text += lines;
  });
  await expect(play(sink, [RESET, SYNC])).rejects.toThrow("disk full");
  await play(sink, [{ op: "delete", set: "nodes", path: "b" }, SYNC]);
  expect(text).toBe("reset\ndelete nodes b\nsync\n");
});

test("the registry loads it by its name, and knows no other", async () => {
  expect((await loadBackend("print"))?.name).toBe("print");
  expect(await loadBackend("printt")).toBeUndefined();
});
