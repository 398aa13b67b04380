import {
  appendFileSync,
  chmodSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextRound } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { DesiredChange } from "../../control/world.ts";
import { keyOf, type ModelObject } from "../../core/model/object.ts";
import { parseObject } from "../../core/model/parse.ts";
import { syncFolder } from "../../platform/replace-file.ts";
import { createLog } from "../instance.fixture.ts";
import type { RawFile } from "./append-file.ts";
import { JOURNAL_NAME, Journal, type JournalOptions } from "./journal.ts";
import {
  encodeChecked,
  encodeEntry,
  encodeHeader,
  encodeLine,
  NO_RUNTIME_CHANGE,
} from "./journal-line.ts";
import { readJournal } from "./read-journal.ts";

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-journal-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

async function openIn(
  folder: string,
  more: Partial<JournalOptions> = {},
): Promise<{ journal: Journal; messages: () => string[] }> {
  const { log, lines } = createLog();
  const journal = await Journal.open({ folder, log, ignores: false, nowMs: () => 0, ...more });
  onTestFinished(() => journal.close());
  return { journal, messages: () => lines.map(({ message }) => message) };
}

function group(name: string, method = "round-robin"): ModelObject {
  return parseObject({ kind: "Group", name, method });
}

function set(...objects: ModelObject[]): DesiredChange {
  return { set: objects, delete: [] };
}

function gone(name: string): DesiredChange {
  return { set: [], delete: [{ kind: "Group", key: `default/${name}` }] };
}

function namesIn({ kept }: Journal): readonly string[] {
  return kept.objects().map(keyOf);
}

test("what was kept is there again, for its user alone", async () => {
  const folder = await makeFolder();
  const { journal } = await openIn(folder);
  await journal.keepObjects(set(group("a"), group("b")));
  await journal.keepObjects({ ...set(group("c")), ...{ delete: gone("a").delete } });
  await journal.keepObjects(set(group("b", "random")));
  await journal.keepEntries({ add: [{ kind: "event-loop-group", name: "g" }], remove: [] });
  await journal.keepEntries({
    add: [{ kind: "event-loop", name: "l1", group: "g" }],
    remove: [],
  });
  await journal.keepEntries({
    add: [{ kind: "event-loop", name: "l2", group: "g" }],
    remove: [{ kind: "event-loop", name: "l1" }],
  });
  await journal.close();
  expect(statSync(journal.path).mode & 0o777).toBe(0o600);
  const { journal: again, messages } = await openIn(folder);
  expect(again.kept.objects()).toEqual([group("b", "random"), group("c")]);
  expect(again.kept.entries()).toEqual([
    { kind: "event-loop-group", name: "g" },
    { kind: "event-loop", name: "l2", group: "g" },
  ]);
  expect(messages()).toEqual([]);
});

test("a journal that others could read is its user's alone once it is open", async () => {
  const folder = await makeFolder();
  const { journal } = await openIn(folder);
  await journal.close();
  chmodSync(journal.path, 0o644);
  await openIn(folder);
  expect(statSync(journal.path).mode & 0o777).toBe(0o600);
});

test("an entry is forgotten by its name, whatever else is said of it; so it was in earlier versions", async () => {
  const folder = await makeFolder();
  const loop = { kind: "event-loop", name: "l", group: "g" } as const;
  const { journal } = await openIn(folder);
  await journal.keepEntries({ add: [loop], remove: [] });
  await journal.keepEntries({ add: [], remove: [loop] });
  await journal.keepEntries({ add: [loop], remove: [] });
  await journal.close();
  expect(readFileSync(journal.path, "utf8")).toContain(
    '"remove":[{"kind":"event-loop","name":"l"}]',
  );
  expect((await openIn(folder)).journal.kept.entries()).toEqual([loop]);
  appendFileSync(journal.path, encodeLine({ seq: 4, remove: [loop] }));
  expect((await openIn(folder)).journal.kept.entries()).toEqual([]);
});

test("a line that could not be read again is not written", async () => {
  const folder = await makeFolder();
  const { journal } = await openIn(folder);
  await journal.keepObjects(set(group("a")));
  const before = readFileSync(journal.path);
  const odd = { ...group("b"), namespace: "no such name" };
  await expect(journal.keepObjects(set(group("c"), odd))).rejects.toMatchObject({
    code: "ERR_JOURNAL",
    message: expect.stringMatching(/set\[1\]\.namespace: .*nothing was changed.*defect/),
  });
  const more = { kind: "event-loop-group", name: "g", odd: 1 } as const;
  await expect(journal.keepEntries({ add: [more], remove: [] })).rejects.toThrow("add[0].odd");
  expect(readFileSync(journal.path)).toEqual(before);
  await journal.keepObjects(set(group("d")));
  expect(namesIn(journal)).toEqual(["default/a", "default/d"]);
});

test("what is encoded in pieces is the same line, and others have their turn meanwhile", async () => {
  const set = Array.from({ length: 2000 }, (_, index) => group(`g${index}`));
  const entry = {
    seq: 7,
    desired: { set, delete: gone("x").delete },
    runtime: { add: [], remove: [{ kind: "controller", name: "c" } as const] },
  };
  let turns = 0;
  const others = setInterval(() => {
    turns += 1;
  }, 0);
  onTestFinished(() => clearInterval(others));
  const pieces = await encodeChecked(entry);
  if (!pieces.ok) throw new TypeError(pieces.fault);
  expect(pieces.value.length).toBeGreaterThan(2);
  expect(pieces.value.join("") === encodeEntry(entry)).toBe(true);
  expect(turns).toBeGreaterThan(0);
  expect(encodeEntry(entry)).toBe(
    encodeLine({ seq: 7, set, delete: entry.desired.delete, remove: entry.runtime.remove }),
  );
});

test("a last line is kept whole or cut off, wherever it breaks off", async () => {
  const folder = await makeFolder();
  const { journal } = await openIn(folder);
  await journal.keepObjects(set(group("a")));
  const before = readFileSync(journal.path).length;
  await journal.keepObjects(set(group("b")));
  await journal.close();
  const whole = readFileSync(journal.path);
  for (let end = before; end <= whole.length; end += 1) {
    const { kept, goodBytes, tornBytes } = readJournal(whole.subarray(0, end), "");
    const isWhole = end === whole.length;
    const names = isWhole ? ["default/a", "default/b"] : ["default/a"];
    expect(kept.objects().map(keyOf)).toEqual(names);
    expect([goodBytes, tornBytes]).toEqual(isWhole ? [end, 0] : [before, end - before]);
  }
  writeFileSync(journal.path, whole.subarray(0, before + 50));
  const { journal: again, messages } = await openIn(folder);
  expect(messages()).toEqual([expect.stringContaining("is cut off")]);
  await again.keepObjects(set(group("c")));
  await again.close();
  expect(namesIn((await openIn(folder)).journal)).toEqual(["default/a", "default/c"]);
});

test("a last line of which the disk wrote only the end is cut off", async () => {
  const folder = await makeFolder();
  const { journal } = await openIn(folder);
  await journal.keepObjects(set(group("a")));
  await journal.close();
  appendFileSync(journal.path, `${"\0".repeat(512)}"sum":"0123456789abcdef"}\n`);
  const { journal: again, messages } = await openIn(folder);
  expect(namesIn(again)).toEqual(["default/a"]);
  expect(messages()).toHaveLength(1);
});

const entry = (seq: number, name: string): string =>
  encodeEntry({ seq, desired: set(group(name)), runtime: NO_RUNTIME_CHANGE });

test.each([
  [
    "an altered line in the middle",
    [encodeHeader(1), entry(1, "a").replace("default", "other"), entry(2, "b")],
    "2: .*checksum does not fit",
  ],
  [
    "an altered last line",
    [encodeHeader(1), entry(1, "a").replace("default", "other")],
    "2: .*checksum",
  ],
  [
    "a line that is missing",
    [encodeHeader(1), entry(1, "a"), entry(3, "c")],
    "3: .*number 3, not 2",
  ],
  [
    "a line that is there twice",
    [encodeHeader(1), entry(1, "a"), entry(1, "a")],
    "3: .*number 1, not 2",
  ],
  ["another first line", [entry(1, "a")], "1: .*"],
  ["no first line", [], "1: .*no first line"],
  [
    "a newer version",
    [encodeLine({ format: "portolan-journal", version: 2, first: 1 })],
    "1: .*version 2; this program knows version 1",
  ],
  [
    "an object that is none",
    [encodeHeader(1), encodeLine({ seq: 1, set: [{ kind: "Group" }] })],
    "2: .*set\\[0\\]\\.name: missing",
  ],
  [
    "a word that is not known",
    [encodeHeader(1), encodeLine({ seq: 1, forget: [] })],
    "2: .*unknown key",
  ],
])("%s is refused with its line, and nothing is touched", async (_, lines, message) => {
  const folder = await makeFolder();
  const path = join(folder, JOURNAL_NAME);
  writeFileSync(path, lines.join(""));
  await expect(openIn(folder)).rejects.toMatchObject({
    code: "ERR_JOURNAL",
    message: expect.stringMatching(new RegExp(`${JOURNAL_NAME}:${message}.*--no-load`)),
  });
  expect(readFileSync(path, "utf8")).toBe(lines.join(""));
});

test("without loading it begins anew, and the one before is kept aside", async () => {
  const folder = await makeFolder();
  writeFileSync(join(folder, JOURNAL_NAME), "not a journal\n");
  const { journal, messages } = await openIn(folder, { ignores: true });
  await journal.keepObjects(set(group("a")));
  expect(messages()).toEqual([expect.stringMatching(/--no-load: .*1970-01-01/)]);
  const aside = readdirSync(folder).filter((name) => name !== JOURNAL_NAME);
  expect(readFileSync(join(folder, aside[0] ?? ""), "utf8")).toBe("not a journal\n");
});

test("a file that is much larger than what is true is written anew", async () => {
  const folder = await makeFolder();
  const { journal, messages } = await openIn(folder, { minCompactBytes: 10_000 });
  await journal.keepEntries({ add: [{ kind: "event-loop-group", name: "g" }], remove: [] });
  for (let round = 0; round < 200; round += 1) {
    await journal.keepObjects(set(group("a", round % 2 === 0 ? "random" : "round-robin")));
  }
  await journal.keepObjects(set(group("b")));
  await journal.close();
  expect(messages()).toContain("the journal was written anew");
  expect(readFileSync(journal.path).length).toBeLessThan(30_000);
  const { journal: again } = await openIn(folder);
  expect(namesIn(again)).toEqual(["default/a", "default/b"]);
  expect(again.kept.entries()).toEqual([{ kind: "event-loop-group", name: "g" }]);
  expect(statSync(again.path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual([JOURNAL_NAME]);
});

test("what was under way to be written anew when the process ended is no harm", async () => {
  const folder = await makeFolder();
  const { journal } = await openIn(folder);
  await journal.keepObjects(set(group("a")));
  await journal.close();
  writeFileSync(`${journal.path}.new`, "half a jour");
  expect(namesIn((await openIn(folder)).journal)).toEqual(["default/a"]);
  expect(readdirSync(folder)).toEqual([JOURNAL_NAME]);
});

/** A disk with room for so many bytes more. */
class FullDisk {
  room = Number.POSITIVE_INFINITY;
  canCut = true;
  /** What was done, in order; what takes its time when it is over. */
  readonly done: string[] = [];

  readonly syncFolder = async (path: string): Promise<void> => {
    await syncFolder(path);
    const { ino } = statSync(join(path, JOURNAL_NAME));
    this.done.push(ino === this.#lastIno ? "sync folder" : "sync folder too early");
  };

  #lastIno = 0;

  readonly openFile = async (path: string, flags: "r+" | "wx"): Promise<RawFile> => {
    const file = await open(path, flags);
    this.#lastIno = (await file.stat()).ino;
    const write = async (buffer: Buffer, from: number, length: number, at: number) => {
      const fits = Math.min(length, this.room);
      this.room -= fits;
      this.done.push("write");
      if (fits === 0) throw Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" });
      return file.write(buffer, from, fits, at);
    };
    return {
      write,
      truncate: async (size) => {
        if (!this.canCut) throw new Error("EIO: i/o error");
        await file.truncate(size);
        this.done.push("truncate");
      },
      datasync: async () => {
        await file.datasync();
        // Whoever does not wait for it is seen.
        await nextRound();
        this.done.push("sync");
      },
      close: () => file.close(),
    };
  };
}

test("a change is acknowledged when it is on the disk, not when it is written", async () => {
  const disk = new FullDisk();
  const { journal } = await openIn(await makeFolder(), disk);
  expect(disk.done.splice(0)).toEqual(["write", "sync", "sync folder"]);
  await journal.keepObjects(gone("a"));
  disk.done.push("acknowledged");
  await journal.keepEntries({ add: [], remove: [{ kind: "controller", name: "c" }] });
  disk.done.push("acknowledged");
  const each = ["write", "sync", "acknowledged"];
  expect(disk.done).toEqual([...each, ...each]);
});

test("a file that is written anew is there for good, by its name too", async () => {
  const disk = new FullDisk();
  const { journal } = await openIn(await makeFolder(), {
    openFile: disk.openFile,
    syncFolder: disk.syncFolder,
    minCompactBytes: 1000,
  });
  for (const _ of Array(20)) await journal.keepObjects(gone("a"));
  await journal.close();
  const atEnd = disk.done.lastIndexOf("sync folder");
  expect(atEnd).toBeGreaterThan(2);
  expect(disk.done.slice(atEnd - 2, atEnd)).toEqual(["write", "sync"]);
  expect(disk.done).not.toContain("sync folder too early");
});

test.each([true, false])(
  "a full disk: the change fails, and the next one works when there is room (can be cut: %s)",
  async (canCut) => {
    const folder = await makeFolder();
    const disk = new FullDisk();
    const { journal } = await openIn(folder, { openFile: disk.openFile });
    await journal.keepObjects(set(group("a")));
    // More than the next line has: what is left of it would stand behind that.
    disk.room = 2000;
    disk.canCut = canCut;
    const many = Array.from({ length: 50 }, (_, index) => group(`b${index}`));
    await expect(journal.keepObjects(set(...many))).rejects.toMatchObject({
      code: "ERR_JOURNAL",
      message: expect.stringMatching(/journal can not be written: ENOSPC.*nothing was changed/),
    });
    await expect(journal.keepObjects(gone("a"))).rejects.toThrow("can not be written");
    expect(namesIn(journal)).toEqual(["default/a"]);
    disk.room = Number.POSITIVE_INFINITY;
    disk.canCut = true;
    await journal.keepObjects(set(group("c")));
    await journal.close();
    const { journal: again, messages } = await openIn(folder);
    expect(namesIn(again)).toEqual(["default/a", "default/c"]);
    expect(messages()).toEqual([]);
  },
);

test("where it can not be written anew it goes on as it is", async () => {
  const folder = await makeFolder();
  let isFresh = true;
  const openFile: JournalOptions["openFile"] = async (path, flags) => {
    if (flags === "wx" && !isFresh) throw new Error("EROFS: read-only");
    isFresh = false;
    return open(path, flags);
  };
  const { journal, messages } = await openIn(folder, { openFile, minCompactBytes: 1000 });
  for (let round = 0; round < 20; round += 1) {
    await journal.keepObjects(set(group("a", round % 2 === 0 ? "random" : "round-robin")));
  }
  await journal.close();
  expect(messages()).toContainEqual(expect.stringMatching(/could not be written anew.*EROFS/));
  expect((await openIn(folder)).journal.kept.objects()).toEqual([group("a", "round-robin")]);
});
