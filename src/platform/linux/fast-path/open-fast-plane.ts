import { closeSync } from "node:fs";
import { release } from "node:os";
import { messageOf } from "../../../core/errors.ts";
import { createLink } from "../bpf/bpf-link.ts";
import { ATTACH_TYPE, PROGRAM_TYPE } from "../bpf/bpf-numbers.ts";
import { programFacts, programsOfLink } from "../bpf/bpf-objects.ts";
import { loadProgram } from "../bpf/bpf-program.ts";
import { hasTcx, OLDEST_WITH_TCX } from "../bpf/has-tcx.ts";
import type { ProgramsAt } from "../links/attached-links.ts";
import type { PlainLink } from "../links/ethernet-links.ts";
import { FastMaps } from "./fast-maps.ts";
import type { FastPlane } from "./fast-plane.ts";
import { forwardingProgram } from "./forwarding-program.ts";
import { learningProgram } from "./learning-program.ts";

/** What keeps connections from the fast path here, and what to do about it. */
export interface FastObstacle {
  readonly what: string;
  readonly remedy: string;
}

export type OpenedFastPlane =
  | { readonly kind: "open"; readonly plane: FastPlane }
  | ({ readonly kind: "obstacle" } & FastObstacle);

/** The clock of the programs is behind by that, or less. */
const COARSE_NS = 20_000_000n;
const PERMISSION = "run it as root, or give it CAP_BPF and CAP_NET_ADMIN";

/** Has the kernel check the programs; no packet meets them before they are attached. */
export function openFastPlane(): OpenedFastPlane {
  if (!hasTcx()) {
    return {
      kind: "obstacle",
      what: `Linux ${release()} has no programs of type tcx`,
      remedy: `boot ${OLDEST_WITH_TCX} or newer`,
    };
  }
  try {
    return { kind: "open", plane: open() };
  } catch (error) {
    return { kind: "obstacle", what: messageOf(error), remedy: PERMISSION };
  }
}

/** The same without leaving anything open: undefined where it would work. */
export function probeFastPlane(): FastObstacle | undefined {
  const outcome = openFastPlane();
  if (outcome.kind === "obstacle") return outcome;
  outcome.plane.close();
  return undefined;
}

function open(): FastPlane {
  const maps = new FastMaps();
  const programs: number[] = [];
  const load = (name: string, attachType: number, instructions: Uint8Array): number => {
    const type = PROGRAM_TYPE.schedClassifier;
    const program = loadProgram({ name, type, attachType, instructions });
    programs.push(program);
    return program;
  };
  const close = (): void => {
    for (const program of programs.splice(0)) closeSync(program);
    maps.close();
  };
  const { tcxEgress, tcxIngress } = ATTACH_TYPE;
  try {
    const learning = load("portolan_learn", tcxEgress, learningProgram(maps.descriptors));
    const forwarding = load("portolan_fast", tcxIngress, forwardingProgram(maps.descriptors));
    const own = new Map([
      [tcxEgress, programFacts(learning).id],
      [tcxIngress, programFacts(forwarding).id],
    ]);
    return {
      attach: (link) => attach(maps, link, { learning, forwarding }),
      programsAt: ({ link }) => {
        const found = [...own].map(([type, id]) => whoseAre(programsOfLink(link, type), id));
        if (found.includes("shared")) return "shared";
        return found.includes("none") ? "none" : "ours";
      },
      takeSeen: () => maps.takeSeen(),
      taken: () => maps.taken(),
      isTaken: (flow) => maps.isTaken(flow),
      admit: (flow) => maps.admit(flow, process.hrtime.bigint() - COARSE_NS),
      remove: (flows) => maps.remove(flows),
      passed: () => maps.passed(),
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

function whoseAre(programs: readonly number[], own: number): ProgramsAt {
  if (programs.some((id) => id !== own)) return "shared";
  return programs.length === 0 ? "none" : "ours";
}

/** The learning one first: what nobody learns is noted in vain. */
function attach(
  maps: FastMaps,
  { link, mtu }: PlainLink,
  { learning, forwarding }: { readonly learning: number; readonly forwarding: number },
): () => void {
  const { tcxEgress, tcxIngress } = ATTACH_TYPE;
  const learner = createLink({ program: learning, target: link, attachType: tcxEgress });
  try {
    maps.setMtu(link, mtu);
    const forwarder = createLink({ program: forwarding, target: link, attachType: tcxIngress });
    return () => {
      closeSync(forwarder);
      closeSync(learner);
      maps.removeMtu(link);
    };
  } catch (error) {
    closeSync(learner);
    maps.removeMtu(link);
    throw error;
  }
}
