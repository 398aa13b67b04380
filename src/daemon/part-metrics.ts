import type { MetricFamily, MetricSample } from "../core/metrics/metric-family.ts";

/** What one part of an instance counts. */
export interface PartMetrics {
  /** Says of all its numbers whose they are: `backend="nftables"`. */
  readonly label: { readonly name: "backend" | "source" | "server"; readonly value: string };
  readonly read: () => readonly MetricFamily[];
}

/** The families of all parts in Prometheus' text form; one family where several have it. */
export function renderPartMetrics(parts: readonly PartMetrics[], prefix: string): string {
  const families = new Map<string, { readonly head: string; readonly lines: string[] }>();
  for (const { label, read } of parts) {
    for (const { name: bare, help, kind, samples } of read()) {
      const name = `${prefix}${bare}`;
      const head = `# HELP ${name} ${help}\n# TYPE ${name} ${kind}`;
      const family = families.get(name) ?? { head, lines: [] };
      families.set(name, family);
      for (const sample of samples) family.lines.push(sampleLine(name, label, sample));
    }
  }
  return [...families.values()]
    .map(({ head, lines }) => `${[head, ...lines].join("\n")}\n`)
    .join("");
}

function sampleLine(name: string, own: PartMetrics["label"], sample: MetricSample): string {
  const { suffix = "", labels, value } = sample;
  const text = Object.entries({ [own.name]: own.value, ...labels })
    .map(([label, content]) => `${label}="${escapeLabel(content)}"`)
    .join(",");
  return `${name}${suffix}{${text}} ${value}`;
}

function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
