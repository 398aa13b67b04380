import { CoreError } from "../../core/errors.ts";
import { decodeEntry, decodeHeader } from "./journal-line.ts";
import { KeptState } from "./kept-state.ts";

export interface JournalContents {
  readonly kept: KeptState;
  /** The number that the next entry has. */
  readonly nextSeq: number;
  /** How much of the file is whole. */
  readonly goodBytes: number;
  /** What was cut off at the end: nobody was told that it is kept. */
  readonly tornBytes: number;
}

const NEW_LINE = 0x0a;
/** What a disk shows where it was to write and did not. */
const NUL = 0;

interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** Where the next one begins. */
  readonly end: number;
}

/**
 * What a journal holds. A last line that was not written to its end is left out; anything else that is
 * wrong is refused, as somebody was told that it is kept.
 * @throws CoreError ERR_JOURNAL with the line
 */
export function readJournal(bytes: Buffer, path: string): JournalContents {
  const kept = new KeptState();
  let nextSeq: number | undefined;
  let goodBytes = 0;
  for (const { number, text, end } of wholeLines(bytes)) {
    const fail = (fault: string): never => {
      throw damaged(path, number, fault);
    };
    if (nextSeq === undefined) {
      const header = decodeHeader(text);
      nextSeq = header.ok ? header.value.first : fail(header.fault);
    } else {
      const entry = decodeEntry(text);
      if (!entry.ok) return fail(entry.fault);
      const { seq } = entry.value;
      if (seq !== nextSeq) return fail(`it is number ${seq}, not ${nextSeq}`);
      kept.apply(entry.value);
      nextSeq += 1;
    }
    goodBytes = end;
  }
  if (nextSeq === undefined) throw damaged(path, 1, "it has no first line");
  return { kept, nextSeq, goodBytes, tornBytes: bytes.length - goodBytes };
}

/** All lines but one at the end that was not written whole. */
function* wholeLines(bytes: Buffer): Generator<Line> {
  let at = 0;
  for (let number = 1; at < bytes.length; number += 1) {
    const newLine = bytes.indexOf(NEW_LINE, at);
    if (newLine < 0) return;
    const line = bytes.subarray(at, newLine);
    const end = newLine + 1;
    if (end === bytes.length && line.includes(NUL)) return;
    yield { number, text: line.toString("utf8"), end };
    at = end;
  }
}

function damaged(path: string, line: number, fault: string): CoreError {
  return new CoreError(
    "ERR_JOURNAL",
    `${path}:${line}: the journal can not be read: ${fault}; put a copy of it in its place, or start without what commands made: --no-load keeps the file aside`,
  );
}
