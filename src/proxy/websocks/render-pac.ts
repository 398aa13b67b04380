import type { TargetRule } from "../../core/model/target-rules.ts";
import type { WayWord } from "../../core/model/websocks.ts";

const MAX_PORT = 65_535;

/**
 * A script by which a browser finds the agent (PAC). It goes to a host directly where the rules say so
 * by its name; from the first rule on that only the agent can judge, the agent is asked.
 * @param proxy `HOST:PORT` of the agent
 */
export function renderPac(proxy: string, rules: readonly TargetRule<WayWord>[]): string {
  const way = JSON.stringify(`SOCKS5 ${proxy}; PROXY ${proxy}`);
  const lines: string[] = [];
  for (const rule of rules) {
    const condition = conditionOf(rule);
    if (condition === undefined) break;
    const result = rule.word === "direct" ? '"DIRECT"' : "viaAgent";
    lines.push(`  if (${condition}) return ${result};`);
  }
  return [
    "function FindProxyForURL(url, host) {",
    `  var viaAgent = ${way};`,
    "  var name = host.toLowerCase();",
    ...lines,
    "  return viaAgent;",
    "}",
    "",
  ].join("\n");
}

/** Undefined where a name alone does not tell. */
function conditionOf({ pattern }: TargetRule<WayWord>): string | undefined {
  const { what, minPort, maxPort } = pattern;
  if (minPort > 1 || maxPort < MAX_PORT) return undefined;
  switch (what.kind) {
    case "any":
      return "true";
    case "network":
      return undefined;
    case "name": {
      const parts: string[] = [];
      if (what.isItself) parts.push(`name === ${JSON.stringify(what.name)}`);
      if (what.isBelow) parts.push(`dnsDomainIs(name, ${JSON.stringify(`.${what.name}`)})`);
      return parts.join(" || ");
    }
  }
}
