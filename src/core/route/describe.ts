import { keyOf } from "../model/object.ts";
import { formatPlace } from "../model/socket-path.ts";
import type { Candidate, Verdict } from "./verdict.ts";

const HEADLINES: Readonly<Record<Verdict["kind"], string>> = {
  endpoints: "goes to",
  reject: "is rejected: the client is told at once",
  drop: "is dropped: the client is told nothing",
  "not-ours": "is left alone: it is not for a service",
};

/** A verdict for people, as lines of text. */
export function describeVerdict(verdict: Verdict): readonly string[] {
  const lines = [`The packet ${headline(verdict)}`];
  if (verdict.kind === "endpoints") lines.push(...verdict.candidates.map(candidateLine));
  lines.push("Because");
  lines.push(...verdict.reasons.map((reason) => `  - ${reason}`));
  if (verdict.others.length > 0) lines.push("Not chosen");
  for (const { endpoint, reason } of verdict.others)
    lines.push(`  - ${keyOf(endpoint)}: ${reason}`);
  return lines;
}

function headline(verdict: Verdict): string {
  const words = HEADLINES[verdict.kind];
  if (verdict.kind !== "endpoints") return words;
  return verdict.candidates.length === 1 ? `${words}` : `${words} one of`;
}

function candidateLine(candidate: Candidate): string {
  const { endpoint, address, targetPort, probability, masquerade } = candidate;
  const place = endpoint.node === "" ? "" : ` on ${endpoint.node}`;
  const source = masquerade ? "masqueraded" : "source kept";
  return `  ${formatPlace(address, targetPort)}  ${percent(probability)}  ${keyOf(endpoint)}${place}, ${source}`;
}

/** `33.3 %`, `100 %`; what is rare is never shown as nothing. */
function percent(probability: number): string {
  const SMALLEST_SHOWN = 0.001;
  if (probability < SMALLEST_SHOWN) return "< 0.1 %";
  return `${Number((probability * 100).toFixed(1))} %`;
}

/** A verdict as plain data, for machines: objects of the model are named by their keys. */
export interface VerdictJson {
  readonly verdict: Verdict["kind"];
  readonly addressType?: string;
  readonly service?: string;
  readonly port?: string;
  readonly listener?: string;
  readonly candidates?: readonly CandidateJson[];
  readonly reasons: readonly string[];
  readonly others: readonly { readonly endpoint: string; readonly reason: string }[];
}

export interface CandidateJson {
  readonly endpoint: string;
  readonly node: string;
  readonly address: string;
  readonly targetPort: number;
  readonly probability: number;
  readonly masquerade: boolean;
}

export function verdictToJson(verdict: Verdict): VerdictJson {
  const { reasons } = verdict;
  const others = verdict.others.map(({ endpoint, reason }) => ({
    endpoint: keyOf(endpoint),
    reason,
  }));
  if (verdict.kind === "not-ours") return { verdict: verdict.kind, reasons, others };
  const { type, service, port, listener } = verdict.matched;
  return {
    verdict: verdict.kind,
    addressType: type,
    service,
    ...(port !== undefined && { port: port.name }),
    ...(listener !== undefined && { listener }),
    ...(verdict.kind === "endpoints" && { candidates: verdict.candidates.map(candidateToJson) }),
    reasons,
    others,
  };
}

function candidateToJson(candidate: Candidate): CandidateJson {
  const { endpoint, address, targetPort, probability, masquerade } = candidate;
  const { node } = endpoint;
  return { endpoint: keyOf(endpoint), node, address, targetPort, probability, masquerade };
}
