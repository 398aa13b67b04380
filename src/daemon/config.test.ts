import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { IPVS } from "../backends/ipvs/definition.ts";
import { PRINT } from "../backends/print/definition.ts";
import { AVAILABLE_BACKENDS } from "./backend-words.ts";
import { type ConfigInputs, type InstanceConfig, resolveConfig } from "./config.ts";
import { parseConfigFile } from "./config-file.ts";
import { WORDS } from "./options.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-config-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function resolve(inputs: Partial<ConfigInputs>, file?: string): Promise<InstanceConfig> {
  const flags = { ...inputs.flags };
  if (file !== undefined) {
    const path = join(folder, "portolan.yaml");
    await writeFile(path, file);
    flags["config"] = path;
  }
  return resolveConfig({ environment: {}, hostName: "host", ...inputs, flags });
}

const RUN = { from: ["file:a.yaml"], to: ["print"] };

test("flags alone", async () => {
  const config = await resolve({ flags: RUN });
  expect(config).toMatchObject({
    node: "host",
    sources: [{ kind: "file", path: "a.yaml", owner: "file:a.yaml" }],
    backends: [{ name: "print", options: { format: "ops", printOutput: "-" } }],
    servesApi: false,
  });
  expect(config.values).toMatchObject({ once: false, sourceOrder: "refuse", pipe: "separate" });
  expect(Object.isFrozen(config)).toBe(true);
});

test("a config file alone, with two backends of one kind", async () => {
  const config = await resolve(
    {},
    `
version: 1
options: { node: node-a, log-level: debug, format: json }
sources: ["file:a.yaml", "api:127.0.0.1:12090"]
backends: [api, print, { to: print, format: yaml, print-output: state.yaml }]
`,
  );
  expect(config).toMatchObject({ node: "node-a", servesApi: true });
  expect(config.sources.map((source) => source.kind)).toEqual(["file", "api"]);
  expect(config.backends.map(({ name, options }) => [name, options])).toEqual([
    ["print", { format: "json", printOutput: "-" }],
    ["print-2", { format: "yaml", printOutput: "state.yaml" }],
  ]);
  expect(config.values.logLevel).toBe("debug");
});

test("flag wins over environment, environment over file", async () => {
  const config = await resolve(
    {
      flags: { ...RUN, node: "flag" },
      environment: { PORTOLAN_NODE: "environment", PORTOLAN_LOG_LEVEL: "warn" },
    },
    "version: 1\noptions: { node: file, log-level: error, log-format: json }\nbackends: [api]\n",
  );
  expect(config.node).toBe("flag");
  expect(config.values).toMatchObject({ logLevel: "warn", logFormat: "json" });
  expect(config.servesApi).toBe(false);
});

test("wrong flags are wrong usage, all of them at once", async () => {
  await expect(
    resolve({ flags: { to: ["prnt"], pipe: "x", format: "xml" } }),
  ).rejects.toMatchObject({
    code: "ERR_USAGE",
    message: [
      '--pipe: "x" is not valid; expected one of separate, parallel, sequence',
      "no source; expected --from SOURCE, such as --from file:state.yaml",
      `--to: "prnt" is not a backend (did you mean "print"?); expected one of ${AVAILABLE_BACKENDS.join(", ")}`,
    ].join("\n"),
  });
  await expect(resolve({ flags: { ...RUN, format: "xml" } })).rejects.toMatchObject({
    code: "ERR_USAGE",
    message: '--format: "xml" is not valid; expected one of ops, brief, yaml, json',
  });
});

test("the error names the place where a word stands", async () => {
  await expect(
    resolve({ environment: { PORTOLAN_FROM: "file:a flie:b", PORTOLAN_TO: "prnt" } }),
  ).rejects.toMatchObject({
    code: "ERR_CONFIG_INVALID",
    message: expect.stringMatching(/^PORTOLAN_FROM: "flie:b" is not.*\nPORTOLAN_TO: "prnt" is not/),
  });
  await expect(
    resolve({}, "version: 1\nsources: ['file:a', x]\nbackends: [print, prnt]\n"),
  ).rejects.toThrow(
    /^\S+\/portolan.yaml:2: sources\[1\]: "x" is not a source.*\n\S+\/portolan.yaml:3: backends\[1\]: "prnt" is not/,
  );
});

test.each([
  ["--to nftables --to iptables", ["nftables", "iptables"], 'is given beside "nftables"'],
  ["with another between", ["ipvs", "print", "iptables"], 'is given beside "ipvs"'],
  ["one of them twice", ["iptables", "iptables"], "is given twice"],
  ["what auto comes to", ["auto", "iptables"], 'is given beside "ipvs"'],
])("of the kernel's data planes an instance runs one: %s", async (_, to, what) => {
  const chooseBackend = async () => ({ definition: IPVS, reasons: [] });
  await expect(resolve({ chooseBackend, flags: { ...RUN, to } })).rejects.toMatchObject({
    code: "ERR_USAGE",
    message: `--to: "iptables" ${what}; expected at most one of nftables, iptables, ipvs: there is one data plane of the kernel in a network namespace`,
  });
});

test("so it is in a config file; others stand beside one of them", async () => {
  const file = "version: 1\nsources: ['file:a']\nbackends: [nftables, { to: ipvs }]\n";
  await expect(resolve({}, file)).rejects.toMatchObject({
    code: "ERR_CONFIG_INVALID",
    message: expect.stringMatching(
      /^\S+\/portolan.yaml:3: backends\[1\]: "ipvs" is given beside "nftables"; expected at most one/,
    ),
  });
  const { backends } = await resolve({
    flags: { ...RUN, to: ["nftables", "healthchecks", "userspace", "print", "print"] },
  });
  expect(backends).toHaveLength(5);
});

test("a source twice, and TLS by halves, are refused", async () => {
  await expect(resolve({ flags: { from: ["file:a", "file:a"], to: ["print"] } })).rejects.toThrow(
    '"file:a" is given twice',
  );
  await expect(resolve({ flags: { ...RUN, apiTlsCert: "x.pem" } })).rejects.toThrow(
    "expected all of --api-tls-cert, --api-tls-key and --api-tls-ca, or none",
  );
  await expect(resolve({ flags: { ...RUN, apiClientTlsKey: "x.pem" } })).rejects.toThrow(
    "expected all of --api-client-tls-cert",
  );
});

test("a bad config file is refused with all problems and its name", () => {
  const raw = {
    version: 2,
    optoins: {},
    options: { "log-levle": "debug" },
    sources: [7],
    backends: [{ format: "yaml" }, { to: "print", frmat: "yaml" }],
  };
  expect(() => parseConfigFile(raw, ["log-level", "format"], "p.yaml")).toThrow(
    expect.objectContaining({
      code: "ERR_CONFIG_INVALID",
      message: [
        'p.yaml: optoins: unknown key; expected "options"',
        "p.yaml: version: 2 is not valid; expected 1",
        'p.yaml: options.log-levle: unknown key; expected "log-level"',
        "p.yaml: sources[0]: 7 is not valid; expected a source such as file:state.yaml",
        'p.yaml: backends[0]: an object with "format" is not valid; expected a backend such as print, or an object with to: print',
        'p.yaml: backends[1].frmat: unknown key; expected "format"',
      ].join("\n"),
    }),
  );
});

test("all that is wrong with a config file is told at once, each with its line and place", async () => {
  const text = `
version: 1
bogus: 1
options: { log-levle: debug, log-level: loud, loops: x }
sources: [7, blah]
backends: [{ frmat: yaml }, prnt, { to: print, format: xml }, userspace, userspace]
`;
  const path = join(folder, "portolan.yaml");
  const error: unknown = await resolve({}, text).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "ERR_CONFIG_INVALID" });
  const lines = error instanceof Error ? error.message.split("\n") : [];
  expect(lines).toEqual(
    [
      "3: bogus: unknown key",
      "4: options.log-levle: unknown key",
      "5: sources[0]: 7 is not valid",
      '6: backends[0]: an object with "frmat" is not valid',
      '4: options.log-level: "loud" is not valid',
      '5: sources[1]: "blah" is not a source',
      '6: backends[1]: "prnt" is not a backend',
      '6: backends[2].format: "xml" is not valid',
      '4: options.loops: "x" is not valid',
    ].map((line) => expect.stringContaining(`${path}:${line}`)),
  );
});

test("a file whose words are not known is not told to lack what they meant", async () => {
  await expect(
    resolve({}, "version: 1\nsorces: ['file:a']\nbackend: [print]\n"),
  ).rejects.toMatchObject({
    code: "ERR_CONFIG_INVALID",
    message: expect.stringMatching(
      /^\S+: sorces: unknown key; expected "sources"\n\S+: backend: .*"backends"$/,
    ),
  });
});

test.each([
  ["version: 1\nsources: [", "ERR_CONFIG_INVALID"],
  ["just text", "ERR_CONFIG_INVALID"],
  ["", "ERR_CONFIG_INVALID"],
  ["version: 1\nsources: file:a\nbackends: [print]", "ERR_CONFIG_INVALID"],
  ["version: 1\nsources: ['flie:a']\nbackends: [print]", "ERR_CONFIG_INVALID"],
  ["version: 1\noptions: {pipe: x}\nsources: ['file:a']\nbackends: [print]", "ERR_CONFIG_INVALID"],
])("refuses the file %j", async (text, code) => {
  await expect(resolve({}, text)).rejects.toMatchObject({ code });
});

test("a config file that is not there is named", async () => {
  const config = join(folder, "none.yaml");
  await expect(resolve({ flags: { ...RUN, config } })).rejects.toMatchObject({
    code: "ERR_CONFIG_INVALID",
    message: expect.stringContaining(config),
  });
});

test("auto is the backend that was chosen, with its name, its options and the reasons", async () => {
  const definition = { ...PRINT, name: "best" };
  const choice = { definition, reasons: ["best: is best", "not better: it is missing"] };
  const { backends } = await resolve({
    flags: { from: ["file:a"], to: ["auto"], format: "yaml" },
    chooseBackend: async () => choice,
  });
  expect(backends).toMatchObject([
    { name: "best", definition, reasons: choice.reasons, options: { format: "yaml" } },
  ]);
});

test("completion offers the backends that there are", () => {
  expect(WORDS.to.suggestions).toEqual(AVAILABLE_BACKENDS);
});
