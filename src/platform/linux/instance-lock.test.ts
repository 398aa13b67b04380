import { expect, onTestFinished, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";

test("the second instance is refused with the pid of the first", requires("linux"), async () => {
  const { takeInstanceLock } = await import("./instance-lock.ts");
  const name = `test-${process.pid}`;
  const lock = takeInstanceLock(name);
  onTestFinished(() => lock.release());
  expect(() => takeInstanceLock(name)).toThrow(`"${name}" is run in this network namespace`);
  expect(() => takeInstanceLock(name)).toThrow(`pid ${process.pid}`);
});

test("who lets go lets the next one in; other names stand apart", requires("linux"), async () => {
  const { takeInstanceLock } = await import("./instance-lock.ts");
  const name = `test-${process.pid}-again`;
  const first = takeInstanceLock(name);
  takeInstanceLock(`${name}-other`).release();
  first.release();
  first.release();
  const second = takeInstanceLock(name);
  // Released once already: it must not let go of what the second holds.
  first.release();
  expect(() => takeInstanceLock(name)).toThrow("already");
  second.release();
});

test(
  "of the kernel's data planes there is one, and who is refused is told which",
  requires("linux", "root"),
  async () => {
    const { takeKernelLock, takeInstanceLock } = await import("./instance-lock.ts");
    const { NetworkNamespace } = await import("./network-namespace.ts");
    const namespace = NetworkNamespace.create();
    onTestFinished(() => namespace.close());
    namespace.run(() => {
      const first = takeKernelLock("iptables");
      const remedy = `by pid ${process.pid}, and serves what "nftables" would serve; stop that one first, and remove what it leaves when this one runs: portolan cleanup --to iptables`;
      expect(() => takeKernelLock("nftables")).toThrow(
        `the backend "iptables" is run in this network namespace already, ${remedy}`,
      );
      expect(() => takeKernelLock("iptables")).toThrow(
        '"iptables" is run in this network namespace',
      );
      // Clean-up of another one, and a redirect to userspace, may stand beside it.
      takeInstanceLock("nftables").release();
      takeInstanceLock("userspace --redirect").release();
      first.release();
      takeKernelLock("nftables").release();
    });
  },
);
