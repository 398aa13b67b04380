import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CoreError } from "../../core/errors.ts";
import { parseKind } from "../../core/model/parse.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import type { Source } from "../source.ts";
import { createFileSource, type FileSourceOptions } from "./file-source.ts";

let folder = "";
let file = "";
const started: Source[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-source-"));
  file = join(folder, "state.yaml");
});

afterEach(async () => {
  await Promise.all(started.splice(0).map((source) => source.close()));
  await rm(folder, { recursive: true, force: true });
});

/** A reporter that can be waited on: reports come in order, none is lost. */
class Reports {
  readonly #all: (string | CoreError)[] = [];
  #wake: () => void = () => undefined;

  ok(message: string): void {
    this.#add(message);
  }

  failed(error: CoreError): void {
    this.#add(error);
  }

  async next(): Promise<string | CoreError> {
    for (;;) {
      const report = this.#all.shift();
      if (report !== undefined) return report;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #add(report: string | CoreError): void {
    this.#all.push(report);
    this.#wake();
  }
}

/** So that only what the system tells is seen. */
const NO_POLL = { pollMs: 3_600_000 };

const nodesText = (...names: readonly string[]) =>
  `version: 1\nnodes: {${names.map((name) => `${name}: {}`).join(", ")}}\n`;

async function start(options: Partial<FileSourceOptions> = {}, store = new GlobalStore()) {
  const source = createFileSource({ path: file, pollMs: 50, ...options });
  started.push(source);
  const reports = new Reports();
  await source.start(store, reports);
  const nodes = () => [...store.state().nodes.keys()].sort();
  return { source, store, reports, nodes };
}

test("the state is read, the owner is synced, and it is said how much", async () => {
  await writeFile(file, nodesText("a", "b"));
  const { store, reports, nodes, source } = await start();
  expect(nodes()).toEqual(["a", "b"]);
  expect(store.isSynced()).toBe(true);
  expect(source.owner).toBe(`file:${file}`);
  expect(await reports.next()).toBe("2 objects from 1 file");
});

test("no services at all is a state too", async () => {
  await writeFile(file, "version: 1\n");
  const { store } = await start();
  expect(store.isSynced()).toBe(true);
});

test("a bad file at the start is refused, and nothing is synced", async () => {
  await writeFile(file, "version: 2\n");
  const store = new GlobalStore();
  await expect(start({}, store)).rejects.toMatchObject({ code: "ERR_STATE_INVALID" });
  expect(store.isSynced()).toBe(false);
});

test("a file that is not there at the start is refused", async () => {
  await expect(start()).rejects.toMatchObject({ code: "ERR_STATE_UNREADABLE" });
});

test("a file over the limit is refused", async () => {
  await writeFile(file, nodesText("a"));
  await expect(start({ maxFileBytes: 10 })).rejects.toMatchObject({ code: "ERR_STATE_TOO_LARGE" });
});

test("a file that is written again is read again, and replaces what was", async () => {
  await writeFile(file, nodesText("a", "b"));
  const { reports, nodes } = await start(NO_POLL);
  await reports.next();
  await writeFile(file, nodesText("b", "c"));
  expect(await reports.next()).toBe("2 objects from 1 file");
  expect(nodes()).toEqual(["b", "c"]);
});

test("a file that an editor replaces by rename is read again, time after time", async () => {
  await writeFile(file, nodesText("a"));
  const { reports, nodes } = await start(NO_POLL);
  await reports.next();
  for (const name of ["b", "c", "d"]) {
    await writeFile(`${file}.tmp`, nodesText(name));
    await rename(`${file}.tmp`, file);
    expect(await reports.next()).toBe("1 objects from 1 file");
    expect(nodes()).toEqual([name]);
  }
});

test("a link that is turned to another folder, as Kubernetes mounts do, is followed", async () => {
  await mkdir(join(folder, "v1"));
  await mkdir(join(folder, "v2"));
  await writeFile(join(folder, "v1", "state.yaml"), nodesText("a"));
  await writeFile(join(folder, "v2", "state.yaml"), nodesText("b"));
  await symlink("v1", join(folder, "..data"));
  await symlink(join("..data", "state.yaml"), file);
  const { reports, nodes } = await start(NO_POLL);
  await reports.next();
  await symlink("v2", join(folder, "..tmp"));
  await rename(join(folder, "..tmp"), join(folder, "..data"));
  await reports.next();
  expect(nodes()).toEqual(["b"]);
});

test("a bad change is reported once, the state before stays, and a good one is taken", async () => {
  await writeFile(file, nodesText("a"));
  const { reports, nodes, store } = await start();
  await reports.next();
  const { revision } = store;
  await writeFile(file, "version: 1\nnodes: [");
  expect(await reports.next()).toMatchObject({ code: "ERR_STATE_INVALID" });
  expect(nodes()).toEqual(["a"]);
  expect(store.revision).toBe(revision);
  await writeFile(file, nodesText("b"));
  expect(await reports.next()).toBe("1 objects from 1 file");
  expect(nodes()).toEqual(["b"]);
});

test("an empty file does not delete everything", async () => {
  await writeFile(file, nodesText("a"));
  const { reports, nodes } = await start();
  await reports.next();
  await writeFile(file, "");
  expect(await reports.next()).toMatchObject({ code: "ERR_STATE_INVALID" });
  expect(nodes()).toEqual(["a"]);
});

test("a file that vanishes keeps its state, and is read when it comes back", async () => {
  await writeFile(file, nodesText("a"));
  const { reports, nodes } = await start();
  await reports.next();
  await rename(file, `${file}.away`);
  expect(await reports.next()).toMatchObject({ code: "ERR_STATE_UNREADABLE" });
  expect(nodes()).toEqual(["a"]);
  await rename(`${file}.away`, file);
  expect(await reports.next()).toBe("1 objects from 1 file");
});

test("a folder follows its files: added, removed, and the whole folder gone", async () => {
  const inner = join(folder, "states");
  await mkdir(inner);
  const { reports, nodes } = await start({ path: inner });
  expect(await reports.next()).toBe("0 objects from 0 files");
  await writeFile(join(inner, "a.yaml"), nodesText("a"));
  expect(await reports.next()).toBe("1 objects from 1 file");
  await writeFile(join(inner, "b.json"), JSON.stringify({ version: 1, nodes: { b: {} } }));
  expect(await reports.next()).toBe("2 objects from 2 files");
  await rm(join(inner, "a.yaml"));
  expect(await reports.next()).toBe("1 objects from 1 file");
  expect(nodes()).toEqual(["b"]);
  await rename(inner, join(folder, "elsewhere"));
  expect(await reports.next()).toMatchObject({ code: "ERR_STATE_UNREADABLE" });
  expect(nodes()).toEqual(["b"]);
  await mkdir(inner);
  await writeFile(join(inner, "c.yaml"), nodesText("c"));
  for (let report = await reports.next(); !String(report).startsWith("1 objects"); ) {
    report = await reports.next();
  }
  expect(nodes()).toEqual(["c"]);
});

test("a folder that was emptied keeps its state, as one does that is not mounted", async () => {
  await writeFile(file, nodesText("a"));
  const { reports, nodes } = await start({ path: folder });
  await reports.next();
  await rm(file);
  expect(await reports.next()).toMatchObject({
    code: "ERR_STATE_UNREADABLE",
    message: expect.stringContaining("no state file is left"),
  });
  expect(nodes()).toEqual(["a"]);
  await writeFile(file, "version: 1\n");
  expect(await reports.next()).toBe("0 objects from 1 file");
  expect(nodes()).toEqual([]);
});

test("what another source holds is refused and said, and taken once it is free", async () => {
  await writeFile(file, nodesText("a", "b"));
  const store = new GlobalStore();
  const { reports, nodes } = await start({}, store);
  await reports.next();
  store.transact("kube", (tx) => tx.set(parseKind("Node", { name: "c" })));
  await writeFile(file, nodesText("b", "c"));
  expect(await reports.next()).toMatchObject({ code: "ERR_KEY_TAKEN" });
  expect(nodes()).toEqual(["a", "b", "c"]);
  store.transact("kube", (tx) => tx.delete("Node", "c"));
  expect(await reports.next()).toBe("2 objects from 1 file");
  expect(nodes()).toEqual(["b", "c"]);
});

test("a closed source follows nothing, and its objects stay", async () => {
  await writeFile(file, nodesText("a"));
  const { source, store, nodes } = await start();
  await source.close();
  await source.close();
  const { revision } = store;
  await writeFile(file, nodesText("b"));
  const { nodes: again } = await start();
  expect(again()).toEqual(["b"]);
  expect([store.revision, nodes()]).toEqual([revision, ["a"]]);
});
