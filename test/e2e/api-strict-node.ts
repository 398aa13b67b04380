import { expect } from "vitest";
import { OLD_SETS, type OldOp, type Plain } from "./api-old-contract.ts";

/** The parts of a change in the order that the old contract gives them. */
const PHASES = [
  "set service",
  "delete anonymous",
  "set named",
  "delete named",
  "set anonymous",
  "delete service",
];

interface PortMapping {
  readonly Name: string;
  readonly Port: number;
  readonly TargetPort: number;
  readonly TargetPortName: string;
}

interface PortName {
  readonly Name: string;
  readonly Port: number;
}

/** A node-local state that believes nothing: every change is held against the old contract. */
export class StrictNode {
  readonly services: Map<string, Plain> = new Map();
  readonly endpoints: Map<string, Plain> = new Map();
  #isStarted = false;

  apply(ops: readonly OldOp[]): void {
    const isReset = ops[0]?.op === "reset";
    expect(isReset || this.#isStarted, "the first change begins with a reset").toBe(true);
    this.#isStarted = true;
    if (isReset) {
      this.services.clear();
      this.endpoints.clear();
    }
    expect(ops.at(-1)).toEqual({ op: "sync" });
    let before: { readonly phase: number; readonly path: string } | undefined;
    for (const op of ops.slice(isReset ? 1 : 0, -1)) {
      if (op.op === "sync" || op.op === "reset") throw new Error(`${op.op} within a change`);
      const phase = PHASES.indexOf(`${op.op} ${kindOf(op.set, op.path)}`);
      const isInOrder =
        phase === before?.phase
          ? op.path > before.path === (op.op === "set")
          : phase > (before?.phase ?? -1);
      expect(isInOrder, `${op.op} ${op.path} after ${before?.path}`).toBe(true);
      before = { phase, path: op.path };
      this.#applyOne(op);
    }
    for (const path of this.endpoints.keys()) this.#expectService(path);
  }

  /** Which ports an old client would use: for each endpoint, service port to target port. */
  targets(service: string): Record<string, Record<number, number>> {
    const ports = list<PortMapping>(this.services.get(service)?.["Ports"]);
    const targets: Record<string, Record<number, number>> = {};
    for (const [path, endpoint] of this.endpoints) {
      if (!path.startsWith(`${service}/`)) continue;
      const overrides = list<PortName>(endpoint["PortOverrides"]);
      const pairs = ports.flatMap((port) => {
        const wanted = port.Name === "" ? port.TargetPortName : port.Name;
        const found = overrides.find(({ Name }) => Name === wanted)?.Port;
        const target = wanted === "" ? port.TargetPort : found;
        return target === undefined ? [] : [[port.Port, target]];
      });
      targets[path] = Object.fromEntries(pairs);
    }
    return targets;
  }

  #applyOne(op: Extract<OldOp, { op: "set" | "delete" }>): void {
    const table = op.set === OLD_SETS.services ? this.services : this.endpoints;
    if (op.op === "delete") {
      table.delete(op.path);
      return;
    }
    table.set(op.path, op.value);
    if (op.set === OLD_SETS.services) return;
    this.#expectService(op.path);
    const { Internal, External } = Object(op.value["Scopes"]);
    expect(Internal || External, `${op.path} is in a scope`).toBe(true);
  }

  #expectService(path: string): void {
    const [namespace, name, endpoint, ...rest] = path.split("/");
    expect(rest, `${path} has three parts`).toEqual([]);
    expect(endpoint).not.toBe("");
    expect([...this.services.keys()], `the service of ${path}`).toContain(`${namespace}/${name}`);
  }
}

function kindOf(set: number, path: string): string {
  expect([OLD_SETS.services, OLD_SETS.endpoints]).toContain(set);
  if (set === OLD_SETS.services) return "service";
  return /\/[0-9a-f]{16}(@.*)?$/.test(path) ? "anonymous" : "named";
}

function list<T>(value: unknown): readonly T[] {
  return Array.isArray(value) ? value : [];
}
