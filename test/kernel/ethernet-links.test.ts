import { execFileSync } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { plainEthernetLinks } from "../../src/platform/linux/links/ethernet-links.ts";
import { LinkTable } from "../../src/platform/linux/links/link-table.ts";
import { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";
import { requires } from "../support/requires.ts";

/** A namespace of its own with links that `ip` makes so. */
function openNamespace(...lines: readonly string[]) {
  const namespace = NetworkNamespace.create();
  onTestFinished(() => namespace.close());
  const run = (program: string, args: readonly string[], input = ""): string =>
    namespace.run(() => execFileSync(program, args, { input, encoding: "utf8", stdio: "pipe" }));
  run("ip", ["-batch", "-"], lines.map((line) => `${line}\n`).join(""));
  const table = namespace.run(() => new LinkTable());
  onTestFinished(() => table.close());
  const names = async () => (await plainEthernetLinks(table)).map(({ name }) => name).sort();
  return { run, table, names };
}

const needs = requires("linux", "root", "ip", "tc");

test("links of Ethernet that are up, no ports, none with programs of others", needs, async () => {
  const { run, table, names } = openNamespace(
    "link set lo up",
    "link add up0 type veth peer name down0",
    "link set up0 mtu 1420 up",
    "link add bridge0 type bridge",
    "link set bridge0 up",
    "link add port0 type veth peer name down1",
    "link set port0 master bridge0 up",
    "link add clsact0 type veth peer name ingress0",
    "link set clsact0 up",
    "link set ingress0 up",
    "link add queue0 type veth peer name down2",
    "link set queue0 up",
    "tuntap add tap0 mode tap",
    "link set tap0 up",
    "tuntap add tun0 mode tun",
    "link set tun0 up",
  );
  for (const kind of ["clsact", "ingress"]) run("tc", ["qdisc", "add", "dev", `${kind}0`, kind]);
  run("tc", ["qdisc", "add", "dev", "queue0", "root", "pfifo"]);
  expect(await names()).toEqual(["bridge0", "queue0", "tap0", "up0"]);
  const link = Number.parseInt(run("ip", ["-oneline", "link", "show", "up0"]), 10);
  expect(await plainEthernetLinks(table)).toContainEqual({ link, name: "up0", mtu: 1420 });
});

test("they are followed as they change", needs, async () => {
  const { run, names } = openNamespace("link add a0 type veth peer name b0", "link set a0 up");
  expect(await names()).toEqual(["a0"]);
  run("ip", ["link", "set", "b0", "up"]);
  expect(await names()).toEqual(["a0", "b0"]);
  run("tc", ["qdisc", "add", "dev", "a0", "clsact"]);
  expect(await names()).toEqual(["b0"]);
  run("tc", ["qdisc", "delete", "dev", "a0", "clsact"]);
  run("ip", ["link", "set", "b0", "down"]);
  expect(await names()).toEqual(["a0"]);
});
