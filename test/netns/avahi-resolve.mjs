/**
 * Runs Avahi as a workload has it, with a bus of its own, and prints what it finds for names, a line each.
 * Started by `ip netns exec`, which gives it mounts of its own.
 *
 *     node avahi-resolve.mjs -4|-6 NAME...
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";

const [, , family = "", ...names] = process.argv;
const BUS = "/run/dbus/system_bus_socket";
const READY = "/run/avahi-daemon/socket";

execFileSync("mount", ["-t", "tmpfs", "none", "/run"]);
for (const folder of ["/run/dbus", "/run/avahi-daemon"]) mkdirSync(folder);
writeFileSync(
  "/run/bus.conf",
  `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path=${BUS}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`,
);
writeFileSync(
  "/run/avahi.conf",
  "[server]\nuse-ipv4=yes\nuse-ipv6=yes\n[wide-area]\nenable-wide-area=no\n[publish]\ndisable-publishing=yes\n",
);

const children = [];
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

/** Ends with this process, also where that is killed. */
async function start(path, ...command) {
  children.push(spawn("setpriv", ["--pdeathsig", "KILL", ...command], { stdio: "ignore" }));
  while (!existsSync(path)) await wait(20);
}

await start(BUS, "dbus-daemon", "--config-file=/run/bus.conf", "--nofork", "--nopidfile");
const asRoot = ["--no-drop-root", "--no-chroot", "--no-rlimits"];
await start(READY, "avahi-daemon", "-f", "/run/avahi.conf", ...asRoot);
for (const name of names) {
  // It ends well also where it has found nothing.
  const text = execFileSync("avahi-resolve", [family, "-n", name], { encoding: "utf8" });
  process.stdout.write(text.replace(/\s+/, " "));
}
process.exit(0);
