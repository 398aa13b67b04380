import { join } from "node:path";
import type { Deed } from "./up-kill-model.ts";

/** Made at once: all of them are there, or none. */
const BATCH = 5;
/** Few, so that commands often meet. */
const NAMES = 3;
const PORTS = 60_000;

export interface DeedOptions {
  /** Namespace of the caller: what it makes is its own. */
  readonly own: string;
  /** Where listeners have their sockets; short, as their paths are limited. */
  readonly folder: string;
  /** Whether it makes loops as well; they are threads, so not everybody does. */
  readonly makesLoops: boolean;
  readonly random: () => number;
}

/** Commands of all sorts; what they name may be there or not. */
export function drawDeed({ own, folder, makesLoops, random }: DeedOptions): Deed {
  const pick = (count: number): number => Math.floor(random() * count);
  const name = (letter: string): string => `${own}/${letter}${pick(NAMES)}`;
  const listener = pick(NAMES);
  const port = 1 + pick(PORTS);
  const weight = 1 + pick(100);
  const gone = random() < 0.3 ? "force-remove" : "remove";
  const group = name("g");
  const upstream = name("u");
  const guard = name("sg");
  const server = `s${pick(NAMES)}`;
  const rule = `r${pick(NAMES)}`;
  const lines = [
    `add upstream ${upstream}`,
    `add server-group ${group} method ${random() < 0.5 ? "wrr" : "wlc"}`,
    `add server-group ${group} to upstream ${upstream} weight ${weight}`,
    `add server ${server} to server-group ${group} address 127.0.0.1:${port} weight ${weight}`,
    `add security-group ${guard} default allow`,
    `add security-group-rule ${rule} to security-group ${guard} network 10.0.0.0/8 protocol tcp port-range ${port} default deny`,
    `add tcp-lb ${own}/l${listener} address unix:${join(folder, `${own}${listener}`)} upstream ${upstream}`,
    `update server-group ${group} method source`,
    `update server-group ${group} in upstream ${upstream} weight ${weight}`,
    `update server ${server} in server-group ${group} weight ${weight}`,
    `update tcp-lb ${own}/l${listener} timeout ${1000 + port} security-group ${guard}`,
    `${gone} tcp-lb ${own}/l${listener}`,
    `${gone} server ${server} from server-group ${group}`,
    `${gone} server-group ${group}`,
    `${gone} upstream ${upstream}`,
    `${gone} security-group ${guard}`,
  ];
  const loops = [
    `add event-loop-group ${own}-elg`,
    `add event-loop ${own}-el to event-loop-group ${own}-elg`,
    `remove event-loop ${own}-el from event-loop-group ${own}-elg`,
    `${gone} event-loop-group ${own}-elg`,
  ];
  if (random() < 0.1) return { kind: "apply", objects: batchOf(own, pick(NAMES), port) };
  const chosen = makesLoops && random() < 0.5 ? loops : lines;
  return { kind: "command", line: chosen[pick(chosen.length)] ?? "" };
}

/** Groups that differ from those of the batch before it, so that half of one would be seen. */
function batchOf(own: string, batch: number, mark: number): readonly object[] {
  return Array.from({ length: BATCH }, (_, index) => ({
    kind: "Group",
    namespace: own,
    name: `batch-${batch}-${index}`,
    annotations: { mark: String(mark) },
  }));
}
