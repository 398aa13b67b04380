/**
 * `serve BACKEND FILE NODE FLAGS`, in a network namespace of its own: brings a node's whole state to the
 * kernel, says so by a line, and stays as a daemon would until it is ended. FLAGS: options of the backend
 * as a JSON object.
 */
import { PassThrough } from "node:stream";
import * as z from "zod";
import { loadBackend } from "../../../src/backends/registry.ts";
import type { Log } from "../../../src/core/log.ts";
import { flagLayer, resolveOptions } from "../../../src/core/options/resolve-options.ts";
import { NodeWatcher } from "../../../src/core/view/node-watcher.ts";
import { createStoreFrom } from "../../support/cluster-store.ts";

const LOG: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: (fields, message) => console.error(message, fields),
  error: (fields, message) => console.error(message, fields),
};

const [name = "", file = "", node = "", flags = "{}"] = process.argv.slice(2);
const definition = await loadBackend(name);
if (definition === undefined) throw new Error(`there is no backend ${name}`);
const given = flagLayer(z.record(z.string(), z.string()).parse(JSON.parse(flags)));
const { values, problems } = resolveOptions(definition.options, [given]);
if (values === undefined) throw new Error(problems.map((one) => one.expected).join("; "));
const watcher = new NodeWatcher(createStoreFrom(file), node, definition.sets);
const context = { nodeName: node, log: LOG, stdout: new PassThrough() };
const backend = await definition.create(values, context);
const { sink } = backend;
await sink.setup();
await sink.waitRequest();
for (const op of watcher.poll() ?? []) {
  if (op.op === "reset") sink.reset();
  else await sink.send(op);
}
console.log(backend.status().summary);
// Nothing else keeps it here.
setInterval(() => undefined, 60_000);
