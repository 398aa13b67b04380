/** What one program is given. */
export interface ToolInput {
  readonly program: string;
  readonly args: readonly string[];
  readonly text: string;
}

const ARGS_BEYOND: Readonly<Record<string, readonly string[]>> = {
  // What two families have in common is made by the first one.
  "ipset restore": ["-exist"],
};

/** The programs of a dry run, each once with all that it is given; modules and settings of the kernel are left out. */
export function toolInputs(script: string): readonly ToolInput[] {
  const inputs = new Map<string, string[]>();
  let lines: string[] = [];
  for (const line of script.split("\n")) {
    if (!line.startsWith("# ")) {
      lines.push(line);
      continue;
    }
    const tool = line.slice(2);
    lines = inputs.get(tool) ?? [];
    inputs.set(tool, lines);
  }
  inputs.delete("settings of the kernel");
  inputs.delete("modules of the kernel");
  return [...inputs].map(([tool, own]) => {
    const [program = "", ...args] = tool.split(" ");
    const text = `${own.filter((line) => line !== "").join("\n")}\n`;
    return { program, args: [...args, ...(ARGS_BEYOND[tool] ?? [])], text };
  });
}
