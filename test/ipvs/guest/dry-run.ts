import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { toolInputs } from "../../../bench/ipvs/tool-inputs.ts";
import { IPVS } from "../../../src/backends/ipvs/definition.ts";
import type { Log } from "../../../src/core/log.ts";
import type { ModelObject } from "../../../src/core/model/object.ts";
import { flagLayer, resolveOptions } from "../../../src/core/options/resolve-options.ts";
import { TOPOLOGY } from "../../../src/core/route/scenarios/topology.ts";
import { GlobalStore } from "../../../src/core/store/global-store.ts";
import { NodeWatcher } from "../../../src/core/view/node-watcher.ts";
import { both, endpoint, NODE, service } from "../../netns/play.ts";
import { Machine } from "./machine.ts";

const { loadBalancerIP, port, targetPort, node } = TOPOLOGY;
const silent = (): void => undefined;
const LOG: Log = { debug: silent, info: silent, warn: silent, error: silent };

test("the tools make of a dry run what the backend makes of the state", async () => {
  const machine = await Machine.open();
  const objects: readonly ModelObject[] = [
    service({
      type: "LoadBalancer",
      loadBalancerIPs: both(loadBalancerIP),
      externalTrafficPolicy: "Local",
      sourceRanges: ["192.0.2.0/24", "2001:db8::/32"],
      affinitySeconds: 600,
      ports: [{ name: "main", port, targetPort, nodePort: 30_080 }],
    }),
    endpoint("web-a"),
    endpoint("web-b", { weight: 3 }),
  ];
  await machine.apply(...objects);
  const made = linesOf(machine);
  await machine.backend.close();
  expect(machine.run("ipvsadm", "-Sn")).toBe("");
  for (const { program, args, text } of toolInputs(await dryRun(objects))) {
    machine.feed(text, program, ...args);
  }
  const remade = linesOf(machine);
  const differences = [
    ...made.filter((line) => !remade.includes(line)).map((line) => `only the backend: ${line}`),
    ...remade.filter((line) => !made.includes(line)).map((line) => `only the tools: ${line}`),
  ];
  expect(differences.join("\n"), differences.join("\n")).toBe("");
});

/** As in a kernel that holds nothing: this process is not in the node's namespace. */
async function dryRun(objects: readonly ModelObject[]): Promise<string> {
  const { values } = resolveOptions(IPVS.options, [flagLayer({ iptablesMode: "legacy" })]);
  if (values === undefined) throw new Error("the options are not valid");
  const store = new GlobalStore();
  store.transact("test", (transaction) => transaction.replaceAll([NODE, ...objects]));
  store.markSynced("test");
  const ops = new NodeWatcher(store, node, IPVS.sets).poll() ?? [];
  const context = { nodeName: node, log: LOG, stdout: new PassThrough() };
  return (await IPVS.preview?.(values, context, ops))?.script ?? "";
}

/** All that is programmed; in which order the tools tell it is not the same each time. */
function linesOf(machine: Machine): readonly string[] {
  const addresses = machine.run("ip", "-o", "address", "show", "dev", "kube-ipvs0");
  // The kernel gives every link an address of its own, and a number.
  const own = addresses.replace(/^.*fe80:.*\n|^\d+: /gm, "").split("\n");
  const isOwn = (line: string): boolean => !line.startsWith("kube-ipvs0");
  return [...machine.state().split("\n").filter(isOwn), ...own];
}
