import type { MetricFamily, MetricSample } from "../backends/metric-family.ts";

/** What one backend counts. */
export interface BackendMetrics {
  /** Its name, which becomes a label. */
  readonly backend: string;
  readonly read: () => readonly MetricFamily[];
}

/** The families of all backends in Prometheus' text form; one family where several have it. */
export function renderBackendMetrics(sources: readonly BackendMetrics[], prefix: string): string {
  const families = new Map<string, { readonly head: string; readonly lines: string[] }>();
  for (const { backend, read } of sources) {
    for (const { name: bare, help, kind, samples } of read()) {
      const name = `${prefix}${bare}`;
      const head = `# HELP ${name} ${help}\n# TYPE ${name} ${kind}`;
      const family = families.get(name) ?? { head, lines: [] };
      families.set(name, family);
      for (const sample of samples) family.lines.push(sampleLine(name, backend, sample));
    }
  }
  return [...families.values()]
    .map(({ head, lines }) => `${[head, ...lines].join("\n")}\n`)
    .join("");
}

function sampleLine(name: string, backend: string, sample: MetricSample): string {
  const { suffix = "", labels, value } = sample;
  const text = Object.entries({ backend, ...labels })
    .map(([label, content]) => `${label}="${escapeLabel(content)}"`)
    .join(",");
  return `${name}${suffix}{${text}} ${value}`;
}

function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
