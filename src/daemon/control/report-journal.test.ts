import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { StatusBoard } from "../../core/status/status-board.ts";
import { createLog } from "../instance.fixture.ts";
import { Journal } from "../journal/journal.ts";
import { reportJournal } from "./report-journal.ts";

test("a journal that can not be written is told until it can be again", async () => {
  const folder = await mkdtemp(join(tmpdir(), "portolan-report-"));
  let isFull = false;
  const journal = await Journal.open({
    folder,
    log: createLog().log,
    ignores: false,
    nowMs: () => 0,
    openFile: async (path, flags) => {
      const file = await open(path, flags);
      return {
        write: async (...args: [Buffer, number, number, number]) => {
          if (isFull) throw new Error("ENOSPC: no space left");
          return file.write(...args);
        },
        truncate: (size) => file.truncate(size),
        datasync: () => file.datasync(),
        close: () => file.close(),
      };
    },
  });
  onTestFinished(async () => {
    await journal.close();
    await rm(folder, { recursive: true });
  });
  const board = new StatusBoard({ now: () => 0 });
  reportJournal(journal, board.add("source", "control"));
  const keep = (name: string) =>
    journal.keepEntries({ add: [{ kind: "event-loop-group", name }], remove: [] });
  expect(board.components()).toMatchObject([{ health: "ok" }]);
  isFull = true;
  await expect(keep("a")).rejects.toThrow("ENOSPC");
  expect(board.components()).toMatchObject([
    { health: "failed", message: expect.stringContaining("ENOSPC: no space left") },
  ]);
  isFull = false;
  await keep("b");
  expect(board.components()).toMatchObject([
    { health: "ok", message: `what commands make is kept in ${journal.path}` },
  ]);
});
