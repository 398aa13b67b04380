import { readdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { commitChange } from "../../control/resources/commit-change.ts";
import { CONTROL_OWNER, type DesiredChange } from "../../control/world.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { parseObject } from "../../core/model/parse.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { Turns } from "../../core/turns.ts";
import { createLog } from "../instance.fixture.ts";
import { JOURNAL_NAME, Journal } from "../journal/journal.ts";
import { keepPrivateFile } from "../private-files.ts";
import { SyncProgress } from "../sync-progress.ts";
import { Committer } from "./committer.ts";
import { FileKeeper } from "./file-keeper.ts";

async function createBench(ownerOrder: readonly string[] = []) {
  const stateFolder = await mkdtemp(join(tmpdir(), "portolan-keeper-"));
  const { log } = createLog();
  const store = new GlobalStore({ ownerOrder });
  const journal = await Journal.open({ folder: stateFolder, log, ignores: false, nowMs: () => 0 });
  onTestFinished(async () => {
    await journal.close();
    await rm(stateFolder, { recursive: true });
  });
  const progress = new SyncProgress([]);
  const committer = new Committer({ store, journal, progress, unserved: () => [], log });
  const turns = new Turns();
  const files = new FileKeeper({ store, committer, turns, stateFolder, log });
  const world = { store, commit: (change: DesiredChange) => committer.commit(change) };
  const left = async (): Promise<readonly string[]> => {
    await turns.over();
    return readdirSync(join(stateFolder, "files")).map((name) => name.replace(/-.*/, ""));
  };
  return {
    store,
    committer,
    files,
    stateFolder,
    /** A file that an earlier command left. */
    leave: (name: string) => keepPrivateFile(join(stateFolder, "files"), `${name}.pem`, name),
    change: (change: DesiredChange) => turns.take(() => commitChange(world, change)),
    /** What is there once all is done that was begun. */
    left,
  };
}

function certificate(file: string, name = "c"): ModelObject {
  return parseObject({ kind: "Certificate", name, certFiles: [file], keyFile: file });
}

const gone = (name: string): DesiredChange => ({
  set: [],
  delete: [{ kind: "Certificate", key: `default/${name}` }],
});
const set = (...objects: ModelObject[]): DesiredChange => ({ set: objects, delete: [] });

test("files of certificates that were replaced or removed go; those that one still names stay", async () => {
  const { store, files, leave, change, left } = await createBench();
  const [one, two] = [await leave("one"), await leave("two"), await leave("orphan")];
  await change(set(certificate(one), certificate(one, "same"), certificate(two, "two")));
  expect(await left()).toEqual(["one", "orphan", "two"]);
  files.begin();
  expect(await left()).toEqual(["one", "two"]);
  await change(set(certificate(two)));
  expect(await left()).toEqual(["one", "two"]);
  store.transact("file", (transaction) => transaction.set(certificate(two, "theirs")));
  await change(gone("same"));
  expect(await left()).toEqual(["two"]);
  await change({ set: [], delete: [...gone("c").delete, ...gone("two").delete] });
  expect(await left()).toEqual(["two"]);
});

test("a change that is taken back leaves the files of what was there before", async () => {
  const { store, files, leave, change, left } = await createBench(["file", CONTROL_OWNER]);
  const [one, two] = [await leave("one"), await leave("two")];
  await change(set(certificate(one)));
  store.transact("file", (transaction) => transaction.set(certificate("/theirs", "theirs")));
  files.begin();
  expect(await left()).toEqual(["one"]);
  await leave("two");
  const both = set(certificate(two), certificate(two, "theirs"));
  await expect(change(both)).rejects.toMatchObject({ code: "ERR_KEY_TAKEN" });
  expect(await left()).toEqual(["one"]);
});

test("nothing goes while a certificate waits for another's, nor once another process has the folder", async () => {
  const { store, committer, files, leave, change, left } = await createBench(["file", "late"]);
  await leave("one");
  store.transact("file", (transaction) => transaction.set(certificate("/theirs")));
  store.transact("late", (transaction) => transaction.set(certificate("/waits")));
  files.begin();
  expect(await left()).toEqual(["one"]);
  store.transact("late", (transaction) => transaction.replaceAll([]));
  const stopped = committer.stop("another process takes this one's place");
  files.begin();
  await stopped;
  expect(await left()).toEqual(["one"]);
  committer.resume();
  await change(set(certificate("/ours", "ours")));
  expect(await left()).toEqual([]);
});

test("what a journal names that was put aside stays", async () => {
  const { files, leave, left, stateFolder } = await createBench();
  const [kept] = [await leave("aside"), await leave("orphan")];
  writeFileSync(join(stateFolder, `${JOURNAL_NAME}.1970-01-01`), `damaged {"keyFile":"${kept}"`);
  files.begin();
  expect(await left()).toEqual(["aside"]);
});
