import * as z from "zod";
import { messageOf } from "../../core/errors.ts";
import { cidrSchema } from "../../core/model/common.ts";
import { type Problem, problemsError } from "../../core/model/problems.ts";
import { checkAgainst } from "../../core/model/zod-problems.ts";
import { type NodeSubnets, parseSubnet } from "../addresses/subnet.ts";
import { type Workload, workloadSchema } from "./workload.ts";

/** What a node was registered with, and what of it stands in the kernel. */
export interface KeptNode {
  readonly v4: string;
  readonly v6: string;
  readonly bridge: string;
  readonly serviceRanges: readonly string[];
}

/** What a node has to know again after a restart. */
export interface NodeState {
  readonly version: 1;
  /** Undefined before it is registered. */
  readonly node: KeptNode | undefined;
  readonly workloads: readonly Workload[];
}

export const EMPTY_STATE: NodeState = { version: 1, node: undefined, workloads: [] };

const schema: z.ZodType<NodeState> = z
  .strictObject({
    version: z.literal(1),
    node: z
      .strictObject({
        v4: cidrSchema,
        v6: cidrSchema,
        bridge: z.string(),
        serviceRanges: z.array(cidrSchema),
      })
      .optional(),
    workloads: z.array(workloadSchema),
  })
  .transform((state) => ({ ...state, node: state.node }));

/** Where the state outlives the process. */
export interface StateKeeper {
  /** Undefined where nothing was kept yet. @throws CoreError ERR_STATE_UNREADABLE, ERR_STATE_INVALID */
  load(): Promise<NodeState | undefined>;
  /** On the disk when it settles, whole or as before. @throws CoreError ERR_STATE_UNREADABLE */
  save(state: NodeState): Promise<void>;
}

/** The networks of a node that was kept; undefined where there is none. */
export function keptSubnets(node: KeptNode | undefined): NodeSubnets | undefined {
  const [v4, v6] = [parseSubnet(node?.v4 ?? ""), parseSubnet(node?.v6 ?? "")];
  return v4 === undefined || v6 === undefined ? undefined : { v4, v6 };
}

export function renderState(state: NodeState): string {
  return `${JSON.stringify(state, undefined, 2)}\n`;
}

/** @param place how errors call the text. @throws CoreError ERR_STATE_INVALID */
export function parseState(text: string, place: string): NodeState {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch (error) {
    throw refuse(place, [
      { path: [], fault: "malformed", value: messageOf(error), expected: "JSON" },
    ]);
  }
  const checked = checkAgainst(schema, raw);
  if (!checked.ok) throw refuse(place, checked.problems);
  return checked.value;
}

function refuse(place: string, problems: readonly Problem[]): Error {
  return problemsError(
    "ERR_STATE_INVALID",
    problems.map((problem) => ({ ...problem, location: place })),
  );
}
