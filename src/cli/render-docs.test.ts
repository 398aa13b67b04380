import { load } from "js-yaml";
import { expect, test } from "vitest";
import { loadAllBackends } from "../backends/registry.ts";
import { fileOptionNames } from "../daemon/config.ts";
import { parseConfigFile } from "../daemon/config-file.ts";
import { OPTION_GROUPS } from "../daemon/options.ts";
import { expectPublished } from "../daemon/published.fixture.ts";
import { loadCommands } from "./commands.ts";
import { CONFIG_EXAMPLE, renderCliDocs, renderConfigDocs } from "./render-docs.ts";

test("docs/cli.md says what the commands do", async () => {
  expectPublished("docs/cli.md", renderCliDocs(await loadCommands()));
});

test("docs/config.md says what the options are", async () => {
  const backends = await loadAllBackends();
  const groups = [
    ...OPTION_GROUPS,
    ...backends.map(({ name, options }) => ({ title: `Backend ${name}`, specs: options })),
  ];
  expectPublished("docs/config.md", renderConfigDocs(groups));
});

test("the config file in the docs is a good one", async () => {
  const file = parseConfigFile(load(CONFIG_EXAMPLE), await fileOptionNames(), "example");
  expect(file.sources).toEqual(["file:state.yaml", "api:10.0.0.1:12090"]);
  expect(file.backends.map((backend) => backend.to)).toEqual(["api", "print"]);
});
