const WORD = /"((?:[^"\\]|\\.)*)"|(\S+)/g;

/** The words of a line as `iptables-save` quotes them. */
export function splitWords(line: string): readonly string[] {
  return [...line.matchAll(WORD)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain ?? "") : quoted.replace(/\\(.)/g, "$1"),
  );
}
