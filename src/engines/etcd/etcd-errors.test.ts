import { expect, test } from "vitest";
import { GRPC_STATUS } from "../../wire/grpc/status.ts";
import { failureOf } from "./etcd-errors.ts";

test.each([
  ["unavailable", "etcdserver: no leader"],
  ["deadlineExceeded", "etcdserver: request timed out"],
  ["unknown", "context deadline exceeded"],
] as const)("a member that is late (%s: %s) is asked elsewhere", (status, message) => {
  const { failure, error } = failureOf({ kind: "status", code: GRPC_STATUS[status], message });
  expect([failure, error.code, error.message]).toEqual([
    "elsewhere",
    "ERR_ETCD_UNREACHABLE",
    `etcd does not answer: ${message}`,
  ]);
});

test("what else it does not know is a refusal", () => {
  const end = { kind: "status", code: GRPC_STATUS.unknown, message: "etcdserver: odd" } as const;
  const { failure, error } = failureOf(end);
  expect([failure, error.code, error.message]).toEqual([
    "final",
    "ERR_ETCD_REFUSED",
    "etcd refuses: odd",
  ]);
});
