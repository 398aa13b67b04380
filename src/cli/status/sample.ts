import type { InstanceStatus } from "../../daemon/instance-socket/status-protocol.ts";

/** What an instance said, and when. */
export interface Sample {
  /** Of a clock that does not jump. */
  readonly atMs: number;
  readonly status: InstanceStatus;
}
