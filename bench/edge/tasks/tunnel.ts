/** One end of a tunnel, until it is ended: `tunnel.js OPTIONS`, with JSON. */
import type { PeerSpec } from "../../../src/edge/tunnel/peer.ts";
import { Tunnel, type TunnelOptions, type TunnelState } from "../../../src/edge/tunnel/tunnel.ts";
import { createLoopHost } from "../../../src/net/threads/loop-host.ts";

interface Task {
  readonly options: TunnelOptions;
  readonly peers: readonly PeerSpec[];
  readonly services: TunnelState["services"];
}

const task: Task = JSON.parse(process.argv[2] ?? "");
const silent = (): void => undefined;
const host = createLoopHost({
  debug: silent,
  info: silent,
  warn: console.error,
  error: console.error,
});
const tunnel = await Tunnel.open(host, task.options);
tunnel.apply(task);
console.log("ready");
