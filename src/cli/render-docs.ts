import { environmentName, flagName, type OptionSpec } from "../core/options/option-spec.ts";
import { expectedOf } from "../core/options/parse-option.ts";
import type { ArgumentSpec, CommandSpec, OptionGroup } from "./command-spec.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { argumentTerm, optionHelp, optionTerm } from "./option-text.ts";

const GENERATED =
  "<!-- Written from the code: `PORTOLAN_REGENERATE=1 npx vitest run src/cli/render-docs.test.ts` writes it anew. -->";

const CLI_INTRODUCTION = `One program, \`portolan\`. The same word means the same thing everywhere:

- \`--from SOURCE\` is always a source: \`file:PATH\` (a state file or a folder of them), \`kube\` or \`kube:CONTEXT\` (a [Kubernetes](kubernetes.md) cluster), \`api:HOST:PORT\` or \`api:unix:PATH\` (another Portolan, or a KPNG server; \`api:plain:HOST:PORT\` without TLS on purpose, see [mesh.md](mesh.md)).
- \`--to BACKEND\` is always a backend; \`auto\` takes the best one that works here and says why. Both may be repeated.
- \`ADDR\` is \`HOST:PORT\`, \`PORT\` (on loopback) or \`unix:PATH\`; port 0 takes any free one, which the log names.
- Every option is also \`PORTOLAN_<NAME>\` in the environment and, for \`run\`, a key of the [config file](config.md). A flag wins over the environment, the environment over the file. A list in the environment is separated by spaces.
- What was asked for is printed to standard output; logs, notes and errors go to standard error. \`DEBUG=1\` adds where in the code an error came from.`;

const SIGNALS = `SIGTERM ends \`run\` cleanly with exit code 0, SIGINT (Ctrl-C) with 130: what is being applied is finished, connections are closed, and what a kernel was told stays. A second signal ends it at once (143, 130). SIGHUP is a SIGTERM where standard error is a terminal, and nothing otherwise. When whoever reads its output is gone, it ends quietly with 0 at the next thing to print.`;

const HEALTH = `With \`--health-listen\`, \`run\` answers \`/livez\` (nothing hangs), \`/healthz\` (and no sync, backend or server failed or takes more than a minute, and the node is not about to go) and \`/readyz\` (and everything is well: what was asked for is true on this node) with 200 or 503, and a JSON body that names each source, sync, backend and server. With \`--metrics-listen\` it answers \`/metrics\` for Prometheus; all names begin with \`portolan_\`.`;

/** `docs/cli.md`. */
export function renderCliDocs(commands: readonly CommandSpec[]): string {
  const overview = commands.map(
    ({ name, summary }) =>
      `| [\`portolan ${name}\`](#portolan-${name.replaceAll(" ", "-")}) | ${summary} |`,
  );
  return lines(
    "# Command line",
    GENERATED,
    CLI_INTRODUCTION,
    table(["command", "does"], overview),
    ...commands.map(renderCommand),
    "## Signals",
    SIGNALS,
    "## Health and metrics",
    HEALTH,
    "## Exit codes",
    table(
      ["code", "meaning"],
      [...EXIT_CODES].map(([code, meaning]) => `| ${code} | ${meaning} |`),
    ),
  );
}

function renderCommand(spec: CommandSpec): string {
  const usage = ["portolan", spec.name, ...spec.arguments.map(usageTerm)];
  if (spec.optionGroups.length > 0) usage.push("[options]");
  const parts = [`## portolan ${spec.name}`, `\`${usage.join(" ")}\`: ${spec.summary}.`];
  if (spec.description !== undefined) parts.push(spec.description);
  for (const { name, help, values } of spec.arguments) {
    parts.push(`\`${name}\`: ${help}${values === undefined ? "" : ` (${values.join(", ")})`}.`);
  }
  const rows = spec.optionGroups.flatMap(({ specs }) =>
    Object.entries(specs).map(([name, option]) => optionRow(name, option)),
  );
  if (rows.length > 0) parts.push(table(["option", ""], rows));
  const examples = spec.examples.map(({ help, command }) => `# ${help}\nportolan ${command}`);
  parts.push(`\`\`\`sh\n${examples.join("\n\n")}\n\`\`\``);
  return parts.join("\n\n");
}

/** As help has it, but without brackets around what must be there. */
function usageTerm(argument: ArgumentSpec): string {
  return argumentTerm(argument).replace(/^<(.*)>$/, "$1");
}

function optionRow(name: string, option: OptionSpec): string {
  return `| \`${cell(optionTerm(name, option))}\` | ${cell(optionHelp(option))} |`;
}

/** A config file that shows every part; a test reads it. */
export const CONFIG_EXAMPLE = `version: 1
options:
  node: worker-1
  log-level: info
  metrics-listen: 127.0.0.1:10249
  health-listen: 127.0.0.1:10256
sources:
  - file:state.yaml
  - api:10.0.0.1:12090
backends:
  - api
  - to: print
    format: yaml
    print-output: state-of-this-node.yaml
`;

const CONFIG_INTRODUCTION = `\`portolan run --config FILE\` reads a config file, YAML or JSON:`;

const CONFIG_RULES = `- \`version\` is 1.
- \`sources\` and \`backends\` are what \`--from\` and \`--to\` say; when those are given (or \`PORTOLAN_FROM\`, \`PORTOLAN_TO\`), the lists of the file do not count. The order of sources matters with \`source-order: first-wins\`.
- A backend is its name, or an object with \`to\` and options of its own, which win over those under \`options\`. One backend may be listed more than once.
- \`options\` holds any of the options below, by the name of the flag without its dashes.
- A flag wins over the environment, the environment over the file. What is unknown or wrong is refused, all of it at once, each with its place (exit code 3). JSON Schema for editors: \`schema/config.json\`.`;

/** `docs/config.md`. */
export function renderConfigDocs(groups: readonly OptionGroup[]): string {
  return lines(
    "# Configuration",
    GENERATED,
    CONFIG_INTRODUCTION,
    `\`\`\`yaml\n${CONFIG_EXAMPLE}\`\`\``,
    CONFIG_RULES,
    ...groups.flatMap(({ title, specs }) => [
      `## ${title}`,
      table(["key", "environment", "value", "default", ""], Object.entries(specs).map(configRow)),
    ]),
  );
}

function configRow([name, spec]: readonly [string, OptionSpec]): string {
  const standard =
    "default" in spec ? (spec.default ?? "") : spec.kind === "boolean" ? "false" : "";
  const cells = [
    `\`${flagName(name)}\``,
    `\`${environmentName(name)}\``,
    expectedOf(spec),
    standard === "" ? "" : `\`${standard}\``,
    spec.help,
  ];
  return `| ${cells.map(cell).join(" | ")} |`;
}

function table(head: readonly string[], rows: readonly string[]): string {
  return [`| ${head.join(" | ")} |`, `|${"---|".repeat(head.length)}`, ...rows].join("\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

function lines(...parts: readonly string[]): string {
  return `${parts.join("\n\n")}\n`;
}
