const BUILT_IN = ["PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"];

/**
 * What an empty kernel saves after a script: every table has its own chains, also where nobody names
 * them, and what is inserted last stands first.
 */
export function savedAfter(script: string): string {
  const chains = BUILT_IN.map((chain) => `:${chain} ACCEPT [0:0]`);
  const tables = script.split(/^(?=\*)/m).map((table) => {
    const [name = "", ...lines] = table.trimEnd().split("\n");
    const inserted = lines.filter((line) => line.startsWith("-I "));
    const jumps = inserted.reverse().map((line) => line.replace(/^-I (\S+) 1 /, "-A $1 "));
    const others = lines.filter((line) => !line.startsWith("-I ") && line !== "COMMIT");
    return [name, ...chains, ...others, ...jumps, "COMMIT"].join("\n");
  });
  return `${tables.join("\n")}\n`;
}
