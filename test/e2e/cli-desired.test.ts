import { load } from "js-yaml";
import { expect, test } from "vitest";
import { runCli } from "../support/cli.ts";
import { LineClient } from "../support/line-client.ts";
import { freePort, startNamedServer } from "../support/named-server.ts";
import { startUp } from "./cli-instance.ts";

const SLOW = 120_000;

function stateOf(port: number, servers: readonly number[], weight = 1): string {
  const list = servers.map((one) => `{ address: "127.0.0.1:${one}", weight: ${weight} }`);
  return `version: 1\nservices: { web: { listen: "127.0.0.1:${port}", servers: [${list.join(", ")}] } }\n`;
}

async function answerAt(port: number): Promise<string | undefined> {
  return (await LineClient.open(port)).line();
}

test(
  "apply shows what changes, then changes it; diff is like diff; what is so is left alone",
  async () => {
    const [port, a, b] = [
      await freePort(),
      await startNamedServer("a"),
      await startNamedServer("b"),
    ];
    const instance = await startUp();
    const file = instance.file("state.yaml", stateOf(port, [a.port]));

    const before = await instance.run(["diff", "-f", file]);
    expect(before).toMatchObject({
      code: 1,
      stdout: `+ Service default/web\n+ Listener default/web\n+ Endpoint default/web/127.0.0.1:${a.port}\n3 changes: 3 created\n`,
    });
    const first = await instance.run(["apply", "-f", file]);
    expect(first.stdout).toMatch(/^\+ Service default\/web\n(?:.*\n)*applied, revision \d+\n$/);
    expect(first.code).toBe(0);
    // It is acknowledged when it is true.
    expect(await answerAt(port)).toBe("a");
    expect(await instance.run(["diff", "-f", file])).toMatchObject({
      code: 0,
      stdout: "nothing differs\n",
    });
    expect((await instance.run(["apply", "-f", file])).stdout).toBe("nothing differs\n");

    instance.file("state.yaml", stateOf(port, [b.port], 3));
    const dry = await instance.run(["apply", "-f", file, "--prune", "--dry-run"]);
    expect(dry.stdout).toBe(
      `+ Endpoint default/web/127.0.0.1:${b.port}\n- Endpoint default/web/127.0.0.1:${a.port}\n2 changes: 1 created, 1 deleted\n`,
    );
    expect(await answerAt(port)).toBe("a");
    const json = await instance.run(["apply", "-f", "-", "--prune", "--json"], {
      stdin: stateOf(port, [b.port], 3),
    });
    expect(JSON.parse(json.stdout)).toMatchObject({
      dryRun: false,
      changes: [{ action: "create" }, { action: "delete" }],
    });
    expect(await answerAt(port)).toBe("b");

    const changed = instance.file("changed.yaml", stateOf(port, [b.port], 7));
    expect((await instance.run(["diff", "-f", changed])).stdout).toBe(
      `~ Endpoint default/web/127.0.0.1:${b.port}\n    weight: 3 -> 7\n1 change: 1 updated\n`,
    );
  },
  SLOW,
);

test(
  "what is printed can be applied again; what is deleted is gone",
  async () => {
    const [port, a] = [await freePort(), await startNamedServer("a")];
    const instance = await startUp();
    await instance.run(["apply", "-f", instance.file("state.yaml", stateOf(port, [a.port]))]);
    const yaml = await instance.run(["get", "-o", "yaml", "--owner", "control"]);
    const saved = instance.file("saved.yaml", yaml.stdout);
    expect((await instance.run(["diff", "-f", saved, "--prune"])).code).toBe(0);

    expect((await instance.run(["get", "servers"])).stdout).toMatch(
      /^ENDPOINT +ADDRESS +WEIGHT .*\nweb\/127\.0\.0\.1:\d+ +127\.0\.0\.1:\d+ +1 +yes +control\n$/,
    );
    expect((await instance.run(["get", "udp-lb"])).stdout).toBe("");
    expect(await instance.run(["get", "service", "wbe"])).toMatchObject({
      code: 1,
      stderr: "portolan: Service default/wbe is not there; did you mean default/web?\n",
    });
    const one = await instance.run(["get", "listener", "web", "-o", "yaml"]);
    expect(load(one.stdout)).toMatchObject({ kind: "Listener", port });

    const gone = await instance.run(["delete", "tcp-lb", "web"]);
    expect(gone).toMatchObject({
      code: 0,
      stdout: "- Listener default/web\n1 change: 1 deleted\n",
    });
    await expect(LineClient.open(port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    expect((await instance.run(["delete", "listener", "web"])).code).toBe(1);
    expect((await instance.run(["delete", "-f", saved])).code).toBe(1);
    await instance.run(["apply", "-f", saved]);
    expect(await answerAt(port)).toBe("a");
    const all = await instance.run(["delete", "-f", saved]);
    expect(all.stdout).toMatch(/3 changes: 3 deleted\n$/);
  },
  SLOW,
);

test(
  "what is used is not deleted, unless by force; what is in a group goes with it",
  async () => {
    const [port, a] = [await freePort(), await startNamedServer("a")];
    const instance = await startUp();
    const yaml = [
      "{ kind: Service, name: u, type: Plain, ports: [{ port: 1 }], groups: [{ group: default/g }] }",
      "{ kind: Group, name: g }",
      `{ kind: Endpoint, name: s, group: g, addresses: [127.0.0.1], ports: [{ port: ${a.port} }] }`,
      `{ kind: Listener, name: l, service: default/u, mode: tcp, address: 127.0.0.1, port: ${port} }`,
    ];
    const fileOf = (name: string, objects: readonly string[]): string =>
      instance.file(name, `version: 1\nobjects:\n${objects.map((one) => `- ${one}\n`).join("")}`);
    const all = fileOf("all.yaml", yaml);
    expect(await instance.run(["apply", "-f", all])).toMatchObject({ code: 0, stderr: "" });

    const used = "portolan: upstream u is used by tcp-lb l; delete those too, or say --force\n";
    for (const more of [[], ["--dry-run"]]) {
      expect(await instance.run(["delete", "upstream", "u", ...more])).toMatchObject({
        code: 1,
        stderr: used,
      });
    }
    expect((await instance.run(["delete", "group", "g"])).stderr).toContain(
      "server-group g is used by upstream u",
    );
    const less = fileOf("less.yaml", yaml.slice(1));
    expect(await instance.run(["apply", "-f", less, "--prune"])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: "portolan: upstream u is used by tcp-lb l; keep it in the file, or change those\n",
    });
    expect(await answerAt(port)).toBe("a");

    expect(await instance.run(["delete", "upstream", "u", "--force"])).toMatchObject({
      code: 0,
      stdout: "- Service default/u\n1 change: 1 deleted\n",
    });
    expect((await instance.run(["delete", "group", "g"])).stdout).toBe(
      "- Endpoint default/g/s\n- Group default/g\n2 changes: 2 deleted\n",
    );
    // What led there leads there again.
    await instance.run(["apply", "-f", all]);
    expect(await answerAt(port)).toBe("a");
    expect((await instance.run(["delete", "-f", all])).stdout).toMatch(/4 changes: 4 deleted\n$/);
  },
  SLOW,
);

test(
  "what another source has is shown, and refused by name",
  async () => {
    const [port, a] = [await freePort(), await startNamedServer("a")];
    const text = stateOf(port, [a.port]);
    const instance = await startUp({
      args: ["--from", "file:source.yaml"],
      files: { "source.yaml": text },
    });
    expect((await instance.run(["get", "listeners"])).stdout).toContain("file:source.yaml");
    const refused = await instance.run(["apply", "-f", "source.yaml"]);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain("Service default/web is of file:source.yaml");
    expect((await instance.run(["delete", "service", "web"])).stderr).toContain("file:source.yaml");
    // To compare is not possible either: 1 would say that it differs.
    expect((await instance.run(["diff", "-f", "source.yaml"])).code).toBe(4);
    const bad = instance.file("bad.yaml", text.replace(`:${port}"`, ':70000"'));
    const { code, stderr } = await instance.run(["apply", "-f", bad]);
    expect([code, stderr]).toEqual([3, expect.stringContaining("bad.yaml:2: services.web.listen")]);
  },
  SLOW,
);

test(
  "a port that is taken: nothing of the file is applied",
  async () => {
    const a = await startNamedServer("a");
    const instance = await startUp();
    const file = instance.file("state.yaml", stateOf(a.port, [await freePort()]));
    const { code, stderr } = await instance.run(["apply", "-f", file]);
    expect(code).not.toBe(0);
    expect(stderr).toContain(`127.0.0.1:${a.port}`);
    expect((await instance.run(["get"])).stdout).toBe("");
  },
  SLOW,
);

test(
  "watch tells what is there, then what changes, until Ctrl-C",
  async () => {
    const [port, a] = [await freePort(), await startNamedServer("a")];
    const instance = await startUp();
    const file = instance.file("state.yaml", stateOf(port, [a.port]));
    await instance.run(["apply", "-f", file]);
    const people = instance.start(["watch"]);
    const machines = instance.start(["watch", "servers", "--json"]);
    await people.waitFor(/# that is all/);
    await machines.waitFor(/"synced"/);
    expect(people.stdout).toContain("= Listener default/web (control)\n");
    instance.file("state.yaml", stateOf(port, [a.port], 9));
    await instance.run(["apply", "-f", file]);
    await people.waitFor(/~ Endpoint \S+ \(control\)\n {4}weight: 1 -> 9\n/);
    await machines.waitFor(/"changed"/);
    const items = machines.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(items).toMatchObject([
      { event: "present", object: { kind: "Endpoint" } },
      { event: "synced" },
      { event: "changed", action: "update", after: { weight: 9 }, owner: "control" },
    ]);
    expect((await people.stop("SIGINT")).code).toBe(130);
    await instance.up.stop();
    expect(await machines.ended()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("has ended"),
    });
  },
  SLOW,
);

test.each([
  [["apply"], 2, "missing; expected -f FILE"],
  [["apply", "-f", "none.yaml"], 3, "none.yaml: can not be read"],
  [["get", "--target", "etcd:nowhere"], 2, "expected instance or etcd:HOST:PORT[,HOST:PORT]"],
  [
    ["get", "--target", "etcd", "--etcd-user", "x"],
    3,
    "expected both --etcd-user and its password",
  ],
  [["get", "--target", "somewhere"], 2, '--target: "somewhere" is not valid; expected instance'],
  [["get", "sevrice"], 2, '"sevrice" is no kind; expected "service"'],
  [["delete"], 2, "expected KIND and NAME..., or -f FILE"],
  [["delete", "service"], 2, "expected names of a Service"],
  [["delete", "server", "a"], 2, "[NAMESPACE/]GROUP/NAME"],
  [["get"], 1, "no instance answers at"],
  [["diff", "-f", "examples/quickstart.yaml"], 4, "no instance answers at"],
  [["watch"], 1, "no instance answers at"],
] as const)("%j is %i", async (args, code, message) => {
  const result = await runCli(args);
  expect([result.code, result.stderr]).toEqual([code, expect.stringContaining(message)]);
});
