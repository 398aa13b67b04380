import type { ErrorCode } from "../../core/errors.ts";

/** Every code, so that one which comes over the socket can be told from anything else. */
const CODES: Readonly<Record<ErrorCode, true>> = {
  ERR_USAGE: true,
  ERR_CONFIG_INVALID: true,
  ERR_STATE_INVALID: true,
  ERR_STATE_TOO_LARGE: true,
  ERR_STATE_UNREADABLE: true,
  ERR_KEY_TAKEN: true,
  ERR_ADDRESS_TAKEN: true,
  ERR_EXHAUSTED: true,
  ERR_NOT_FOUND: true,
  ERR_IN_USE: true,
  ERR_NOT_OURS: true,
  ERR_REFUSED: true,
  ERR_UNAUTHORIZED: true,
  ERR_JOURNAL: true,
  ERR_NOT_POSSIBLE_HERE: true,
  ERR_LISTEN: true,
  ERR_NO_SERVER: true,
  ERR_SYSTEM_CALL: true,
  ERR_PROGRAM_FAILED: true,
  ERR_LOOP_ENDED: true,
  ERR_INSTANCE: true,
  ERR_API_UNREACHABLE: true,
  ERR_API_PROTOCOL: true,
  ERR_API_REFUSED: true,
  ERR_API_MESSAGE_TOO_LARGE: true,
  ERR_ETCD_UNREACHABLE: true,
  ERR_ETCD_REFUSED: true,
  ERR_ETCD_PROTOCOL: true,
  ERR_ETCD_COMPACTED: true,
  ERR_CHANGED_MEANWHILE: true,
  ERR_LEASE_LOST: true,
  ERR_SYNC_FAILED: true,
  ERR_SINK_BROKEN: true,
  ERR_ABORTED: true,
};

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(CODES, code);
}
