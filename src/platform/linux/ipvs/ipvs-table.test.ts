import { expect, test } from "vitest";
import { CoreError } from "../../../core/errors.ts";
import { ERRNO } from "../../errno.ts";
import { nameScheduler } from "./ipvs-table.ts";

const server = {
  family: "v4",
  place: { protocol: "TCP", ip: "10.96.0.10", port: 80 },
  scheduler: "mh",
  flags: 0,
  persistenceSeconds: 0,
} as const;
const refusedWith = (errno: number) => ({
  index: 0,
  errno,
  error: new CoreError("ERR_SYSTEM_CALL", "adding it failed"),
});

test("a scheduler that the kernel does not have is named with its module", () => {
  const refused = refusedWith(ERRNO.ENOENT);
  const { message } = nameScheduler(refused, { kind: "newService", server }).error;
  expect(message).toMatch(
    /^adding it failed: this kernel has no scheduler mh \(module ip_vs_mh\);/,
  );
  expect(message).toContain("modprobe ip_vs_mh");
});

test("nothing else is taken for that", () => {
  const destination = { ip: "10.244.0.1", port: 80, weight: 1 };
  const gone = refusedWith(ERRNO.ENOENT);
  expect(nameScheduler(gone, { kind: "deleteDestination", server, destination })).toBe(gone);
  const taken = refusedWith(ERRNO.EEXIST);
  expect(nameScheduler(taken, { kind: "newService", server })).toBe(taken);
});
