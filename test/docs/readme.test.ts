import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { runCli } from "../support/cli.ts";

const ROOT = new URL("../../", import.meta.url);
const PAGES = ["README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/errors.md"];
const PROMPT = "$ npx portolan ";

function read(page: string): string {
  return readFileSync(new URL(page, ROOT), "utf8");
}

/** What the page shows as typed into a terminal, with what it shows as the answer. */
function sessionsOf(page: string): readonly (readonly [command: string, answer: string])[] {
  const blocks = [...read(page).matchAll(/^```console\n([^`]*)^```/gm)];
  return blocks.map(([, block = ""]) => {
    const [command = "", ...answer] = block.split("\n");
    return [command, answer.join("\n")] as const;
  });
}

test("there are commands to try", () => {
  expect(sessionsOf("README.md").length).toBeGreaterThan(0);
});

test.each(sessionsOf("README.md"))("%s answers as README.md says", async (command, answer) => {
  expect(command.startsWith(PROMPT)).toBe(true);
  const { code, stdout } = await runCli(command.slice(PROMPT.length).split(" "));
  expect({ code, stdout }).toEqual({ code: 0, stdout: answer });
});

describe.each(PAGES)("%s", (page) => {
  const links = [...read(page).matchAll(/\]\(([^)#\s]+)\)/g)].map(([, target]) => target ?? "");
  const local = links.filter((target) => !target.includes("://"));

  test.each(local)("leads to %s, which is there", (target) => {
    expect(existsSync(new URL(target, new URL(page, ROOT)))).toBe(true);
  });
});
