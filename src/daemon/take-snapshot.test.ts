import { expect, test } from "vitest";
import { CoreError } from "../core/errors.ts";
import { dryRun } from "./dry-run.ts";
import { configOf, createFakeDeps, FakeSource, fakeBackend, service } from "./instance.fixture.ts";
import { takeSnapshot } from "./take-snapshot.ts";

test("has the state of all sources, and closes them", async () => {
  const sources = [
    new FakeSource("a", [service("web", "10.0.0.1")]),
    new FakeSource("b", [service("db", "10.0.0.2")]),
  ];
  const store = await takeSnapshot(sources);
  expect([...store.state().services.keys()].sort()).toEqual(["default/db", "default/web"]);
  expect(sources.every((source) => source.isClosed)).toBe(true);
});

test("rejects with what a source reports, or after the time-out", async () => {
  const failing = new FakeSource("a", []);
  failing.start = async (_store, report) => {
    report.failed(new CoreError("ERR_API_UNREACHABLE", "nobody there"));
  };
  await expect(takeSnapshot([failing])).rejects.toMatchObject({ code: "ERR_API_UNREACHABLE" });
  const silent = new FakeSource("b", []);
  silent.start = async () => undefined;
  await expect(takeSnapshot([silent], { timeoutMs: 1 })).rejects.toThrow("b: no state within");
  expect([failing.isClosed, silent.isClosed]).toEqual([true, true]);
});

test("a dry run says what would be done, and does nothing", async () => {
  const calls: string[] = [];
  const config = await configOf({ to: ["api", "print"], metricsListen: "9" }, [
    fakeBackend("one", calls, {
      definition: {
        probe: async () => [{ severity: "degraded", what: "old kernel", remedy: "upgrade" }],
        create: async () => {
          throw new Error("nothing is created");
        },
      },
    }),
  ]);
  const source = new FakeSource("file:a", [service("web", "10.0.0.1")]);
  const text = await dryRun(config, createFakeDeps([source]));
  expect(text.split("\n")).toEqual([
    "would run as node node-a",
    "would follow file:a",
    "would serve the API on 127.0.0.1:12090",
    "would serve metrics on 127.0.0.1:9",
    "one: degraded: old kernel: upgrade",
    "would send to one:",
    "  reset",
    expect.stringMatching(/^ {2}set services default\/web \{/),
    "  sync",
    "",
  ]);
  expect(calls).toEqual([]);
});

test("a dry run shows what a backend would execute, where it can say so, and all of it as JSON", async () => {
  const flags = { to: ["print"], json: true };
  const backend = fakeBackend("one", [], {
    definition: { preview: async (_options, _context, ops) => ({ script: `add ${ops.length}` }) },
  });
  const source = () => new FakeSource("file:a", [service("web", "10.0.0.1")]);
  const text = await dryRun(
    await configOf({ ...flags, json: false }, [backend]),
    createFakeDeps([source()]),
  );
  expect(text).toContain("one would execute:\nadd 3\n");
  const previews = [
    [{ script: "" }, "one would execute nothing: the kernel has it already\n"],
    [{ script: "add", unread: "no nft" }, "could not be read: no nft):\nadd\n"],
  ] as const;
  for (const [preview, expected] of previews) {
    const other = fakeBackend("one", [], { definition: { preview: async () => preview } });
    const config = await configOf({ ...flags, json: false }, [other]);
    expect(await dryRun(config, createFakeDeps([source()]))).toContain(expected);
  }
  const json = await dryRun(await configOf(flags, [backend]), createFakeDeps([source()]));
  expect(JSON.parse(json)).toMatchObject({
    node: "node-a",
    sources: ["file:a"],
    conflicts: [],
    listens: [],
    backends: [
      {
        name: "one",
        findings: [],
        executes: "add 3",
        ops: [{ op: "reset" }, { op: "set" }, { op: "sync" }],
      },
    ],
  });
});
