import { readdirSync, readFileSync } from "node:fs";
import { expect } from "vitest";
import { EdgeStage } from "./edge-stage.ts";

/** What a process holds that could leak. */
function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function residentKb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
}

/** Workloads that are there at the same time. */
const AT_ONCE = 4;
/** The heap may breathe; what a deployment leaks would be far more. */
const MAX_GROWTH_KB = 60_000;

/** Deploys and undeploys so many workloads, and expects that nothing is left of them. */
export async function churn(count: number): Promise<void> {
  const stage = new EdgeStage();
  const node = await stage.start("--subnet", "10.18.0.64/26", "--log-level", "warn");
  const ids = Array.from({ length: AT_ONCE }, (_, index) => stage.containerId(`w${index}`));
  const round = async (): Promise<void> => {
    const deployed = await Promise.all(
      ids.map((containerId, index) =>
        stage.rest("/docker/deploy", {
          ...{ containerId, appName: `app${index}`, instanceNumber: index },
          portMappings: `${8000 + index}:80;${8000 + index}:53/udp`,
        }),
      ),
    );
    expect(deployed.map(({ status }) => status)).toEqual(ids.map(() => 200));
    const gone = await Promise.all(
      ids.map((_, index) =>
        stage.rest("/docker/undeploy", { serviceName: `app${index}.instance.${index}` }),
      ),
    );
    expect(gone.map(({ status }) => status)).toEqual(ids.map(() => 200));
  };
  await round();
  // The tunnel answers when it has opened what it keeps, the kernel path with its maps and programs, too.
  await stage.rest("/nodes");
  const before = { traces: stage.traces(), descriptors: descriptorsOf(node.pid) };
  const memoryKb = residentKb(node.pid);
  for (let done = AT_ONCE; done < count; done += AT_ONCE) await round();
  expect(stage.traces()).toBe(before.traces);
  // It may be looking at the kernel at this moment, with some that it closes again.
  await expect.poll(() => descriptorsOf(node.pid)).toBeLessThanOrEqual(before.descriptors);
  expect(residentKb(node.pid) - memoryKb).toBeLessThan(MAX_GROWTH_KB);
  expect(await stage.rest("/node")).toMatchObject({ body: { addresses: { used: 0 } } });
  expect(await node.stop()).toMatchObject({ code: 0, stderr: "" });
}
