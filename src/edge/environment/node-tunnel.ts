import type { NodePlan } from "./edge-network.ts";

/** The tunnel behind its device. Routes to the device are the environment's business. */
export interface NodeTunnel {
  /** True once nothing passes any more, as somebody removed its link or its loop ended. */
  readonly isLost: boolean;
  close(): Promise<void>;
}

/** Opens the tunnel of a node; the kernel shows its link under the name of the plan from then on. */
export type OpenTunnel = (plan: NodePlan) => Promise<NodeTunnel>;
