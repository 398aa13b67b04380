import type { Log } from "../../core/log.ts";
import type { EdgeEvents } from "./edge-events.ts";
import type { EdgeNetwork, NodePlan } from "./edge-network.ts";
import type { Workload } from "./workload.ts";
import type { WorkloadBook, WorkloadHealth } from "./workload-book.ts";

export interface Repair {
  readonly plan: NodePlan;
  readonly book: WorkloadBook;
  readonly network: EdgeNetwork;
  readonly events: EdgeEvents;
  readonly log: Log;
}

/** Makes the kernel match the book as far as it can, and tells of workloads where it can not. */
export async function putRight(repair: Repair): Promise<void> {
  const { plan, book, network, log } = repair;
  await network.ensureNode(plan);
  const attached = await network.attached(plan.bridge);
  const known = new Set(book.all().map(({ workload }) => workload.hostLink));
  for (const hostLink of attached) {
    if (known.has(hostLink)) continue;
    log.warn({ link: hostLink }, "a link of no workload is removed");
    await network.detach(hostLink);
  }
  const changed: string[] = [];
  for (const { workload, health } of book.all()) {
    const { name, hostLink } = workload;
    const now = attached.has(hostLink) ? "up" : await attachAgain(repair, workload);
    if (now === health) continue;
    book.set(book.get(name)?.workload ?? workload, now);
    changed.push(name);
  }
  await network.publish(plan, book.publishedPorts());
  // Only now: whoever is told finds it so.
  for (const name of changed) tell(repair, name);
}

async function attachAgain(
  { plan, book, network, log }: Repair,
  workload: Workload,
): Promise<WorkloadHealth> {
  const { name } = workload;
  if (!network.isThere(workload.namespace)) return "lost";
  try {
    log.warn({ workload: name }, "its link is gone, and is made again");
    const link = await network.attach(plan, workload);
    book.set({ ...workload, link }, book.get(name)?.health ?? "up");
    return "up";
  } catch (error) {
    log.error({ workload: name, err: error }, "it could not be connected again");
    return "lost";
  }
}

function tell({ book, events, log }: Repair, serviceName: string): void {
  const entry = book.get(serviceName);
  if (entry?.health === "up") {
    const { v4: nsAddress, v6: nsAddressv6 } = entry.workload.addresses;
    events.tell({ type: "restored", serviceName, nsAddress, nsAddressv6 });
    return;
  }
  const reason = "its network namespace, or its link, is gone";
  log.warn({ workload: serviceName }, reason);
  events.tell({ type: "failed", serviceName, reason });
}
