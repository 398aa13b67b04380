import { once } from "node:events";
import { connect } from "node:net";
import { runTask } from "../support/child.ts";
import { median } from "../support/measure.ts";
import { numbersFrom } from "../support/results.ts";
import { type RoundValues, ratesInTurns, roundRatios } from "./compare.ts";
import type { Extra, ExtraOptions } from "./extra.ts";
import { portolanLb } from "./portolan-command.ts";
import { freePort, type ServiceProcess, startService } from "./service-process.ts";

const TASK = new URL("./tasks/socks5-load.js", import.meta.url);
const NAMES = ["portolan", "microsocks"] as const;

type Socks5Name = (typeof NAMES)[number];

const LABELS: Readonly<Record<Socks5Name, string>> = {
  portolan: "Portolan",
  microsocks: "microsocks",
};

/** Short connections through SOCKS5, for a CPU-second, beside microsocks. */
export async function compareSocks5(options: ExtraOptions): Promise<Extra> {
  const [serverPort = 0] = options.serverPorts;
  const proxies = new Map<Socks5Name, ServiceProcess>();
  let values: RoundValues<Socks5Name>;
  try {
    for (const name of NAMES) proxies.set(name, await start(name, serverPort));
    values = await ratesInTurns(proxies, options.rounds, (port) =>
      load(port, serverPort, options.seconds),
    );
  } finally {
    for (const [, proxy] of proxies) await proxy.stop();
  }
  const ratio = median(roundRatios(values, "portolan", "microsocks"));
  const rows = [...values].map(([name, rates]) => {
    const rate = Math.round(median(rates)).toLocaleString("en");
    return `  ${LABELS[name].padEnd(14)}${rate} connections a CPU-second`;
  });
  return {
    text: ["short connections through SOCKS5", ...rows].join("\n"),
    figures: [
      {
        name: "short connections through SOCKS5: for a CPU-second, to microsocks'",
        value: ratio,
        unit: "times",
        limit: 1,
        bound: "least",
      },
    ],
    values: Object.fromEntries(values),
  };
}

async function start(name: Socks5Name, serverPort: number): Promise<ServiceProcess> {
  const port = await freePort();
  const command =
    name === "portolan"
      ? portolanLb({ port }, "--socks5", "--servers", `127.0.0.1:${serverPort}`)
      : ["microsocks", "-i", "127.0.0.1", "-p", String(port)];
  return startService(command, port, greets);
}

/** Whether somebody speaks SOCKS5 there. */
async function greets(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    socket.write(Buffer.from([5, 1, 0]));
    await once(socket, "data");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function load(port: number, serverPort: number, seconds: number): Promise<number> {
  const result = await runTask(TASK, [port, serverPort, seconds].map(String));
  return numbersFrom(result, ["done"]).done;
}
