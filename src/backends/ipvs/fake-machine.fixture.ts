import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { resolveOptions } from "../../core/options/resolve-options.ts";
import type { RoutePolicy } from "../../core/route/route-policy.ts";
import { createFullStateSink } from "../../core/sinks/fullstate.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { NodeWatcher } from "../../core/view/node-watcher.ts";
import { type Exec, stdinText } from "../../platform/linux/exec.ts";
import { createIptablesTool } from "../../platform/linux/iptables/iptables-tool.ts";
import { savedAfter } from "../../platform/linux/iptables/saved-after.fixture.ts";
import { KERNEL_SETS } from "../kernel-options.ts";
import { FamilyPlane } from "./family-plane.ts";
import { GlueKeeper } from "./glue/glue-keeper.ts";
import { setsOf } from "./glue/set-names.ts";
import {
  createFakeKernel,
  createFakePlatform,
  type FakeKernel,
} from "./kernel/fake-platform.fixture.ts";
import type { IpvsPlatform } from "./kernel/platform.ts";
import { IPVS_OPTIONS } from "./options.ts";
import { ServicePlanner } from "./service-planner.ts";
import { settingsOf } from "./settings.ts";

const silent = (): void => undefined;
const LOG: Log = { debug: silent, info: silent, warn: silent, error: silent };
const FAMILIES = ["v4", "v6"] as const;

/** A node whose kernel is only thought of, with rules, and with what the backend made of a state. */
export class FakeMachine {
  readonly kernel: FakeKernel = createFakeKernel();
  readonly platform: IpvsPlatform = createFakePlatform(this.kernel);
  /** Lines of what was restored, by the program; from an empty kernel that is what was saved. */
  readonly #restored = new Map<string, string>();
  /** What `ip route get` answers with. */
  device = "eth0";

  readonly listTables = async (): Promise<readonly never[]> => [];
  readonly exec: Exec = {
    run: async (program, _, { stdin } = {}) => {
      const tool = program.replace(/-(save|restore)$/, "");
      if (program === "ip") {
        return { exitCode: 0, stdout: JSON.stringify([{ dev: this.device }]), stderr: "" };
      }
      if (!tool.endsWith("-legacy")) {
        throw new CoreError("ERR_NOT_POSSIBLE_HERE", `there is no ${program}`);
      }
      if (program.endsWith("-restore")) this.#restored.set(tool, savedAfter(stdinText(stdin)));
      return { exitCode: 0, stdout: this.#restored.get(tool) ?? "", stderr: "" };
    },
  };

  /** Alters the rules by hand. */
  alterRules(alter: (text: string) => string): void {
    for (const [tool, text] of this.#restored) this.#restored.set(tool, alter(text));
  }

  /** Makes a first sync of all objects. */
  async program(node: string, policy: RoutePolicy, objects: readonly ModelObject[]): Promise<void> {
    const { values } = resolveOptions(IPVS_OPTIONS, []);
    if (values === undefined) throw new Error("the defaults are not valid");
    const settings = { ...settingsOf(values), policy, workloadInterfaces: ["veth+"] };
    for (const object of objects) {
      if (object.kind !== "Node" || object.name !== node) continue;
      for (const ip of object.addresses) this.kernel.otherAddresses.add(ip);
    }
    const planner = new ServicePlanner(settings, node, FAMILIES);
    const { platform } = this;
    const planes = FAMILIES.map((family) => {
      const sets = setsOf(family);
      const glue = new GlueKeeper(createIptablesTool(family, "legacy", this.exec), sets);
      const { marks } = planner;
      return new FamilyPlane({ family, platform, sets, glue, marks, settings, log: LOG });
    });
    const store = new GlobalStore();
    store.transact("test", (transaction) => transaction.replaceAll(objects));
    store.markSynced("test");
    const sink = createFullStateSink({
      waitRequest: () => ({ nodeName: node, sets: KERNEL_SETS }),
      apply: async (state, changed) => {
        const changes = planner.plan(state, changed);
        for (const plane of planes) {
          const change = changes.get(plane.family);
          if (change !== undefined) await plane.sync(change);
        }
      },
    });
    for (const op of new NodeWatcher(store, node, KERNEL_SETS).poll() ?? []) {
      if (op.op === "reset") sink.reset();
      else await sink.send(op);
    }
  }
}
