import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import type { Command, ResourceCommand } from "../command.ts";
import { CERT_FILE, KEY_FILE } from "../control-world.fixture.ts";
import { findActionSpec } from "../grammar/check-command.ts";
import { hundredCommands } from "../hundred-commands.fixture.ts";
import { RESOURCES } from "../resources/table.ts";
import { TypedControl } from "../typed.fixture.ts";
import { type Asked, startMemoryController } from "./http-controller.fixture.ts";

const COMMANDS = hundredCommands({
  firstPort: 18_000,
  certFile: CERT_FILE,
  keyFile: KEY_FILE,
  folder: "/saved",
});
const PATH_WORDS = new Map([
  ["connection", "conn"],
  ["accepted-conn-count", "accepted-conn"],
]);

/** What a typed line comes to: a result, or the code that refuses it. */
async function typed(control: TypedControl, line: string): Promise<unknown> {
  try {
    return await control.type(line);
  } catch (error) {
    if (error instanceof CoreError) return error.code;
    throw error;
  }
}

test("a hundred commands come to the same by the paths that they stand for", async () => {
  const reference = new TypedControl();
  const { http } = await startMemoryController({ maySystem: true });
  let translated = 0;
  for (const { line, refused } of COMMANDS) {
    const command = parsed(reference, line);
    const request = command?.kind === "resource" ? requestFor(command) : undefined;
    const expected = await typed(reference, line);
    if (request === undefined) {
      await http.ask("POST", "/api/v1/command", { body: { command: line } });
      continue;
    }
    translated += 1;
    const { status, text, json } = await http.ask(request.method, request.path, request);
    if (refused === undefined) expect(status, `${line}: ${text}`).toBeLessThan(300);
    else expect(json, line).toMatchObject({ code: expected });
  }
  expect(translated).toBeGreaterThan(60);
  const config = await http.ask("POST", "/api/v1/command", { body: { command: "list config" } });
  expect(config.json).toEqual(await reference.type("list config"));
  expect(http.log.filter(({ level }) => level === "error")).toEqual([]);
});

function parsed({ control }: TypedControl, line: string): Command | undefined {
  try {
    return control.parse(line);
  } catch {
    return undefined;
  }
}

/** Undefined where the API has no such path. */
function requestFor(
  command: ResourceCommand,
): (Asked & { readonly method: string; readonly path: string }) | undefined {
  const { action, type, name, within, params } = command;
  const resource = RESOURCES.find((spec) => spec.name === type);
  const specs = findActionSpec(command, RESOURCES)?.params ?? [];
  if (resource === undefined || resource.section === "none") return undefined;
  const word = (one: string): string => PATH_WORDS.get(one) ?? one;
  const places = within.toReversed().flatMap((place) => [word(place.type), place.name]);
  const all = ["/api/v1", resource.section, ...places.map(encodeURIComponent), word(type)].join(
    "/",
  );
  const one = `${all}/${encodeURIComponent(name)}`;
  const fields = [...params].map(([key, value]) => [
    specs.find((spec) => spec.name === key)?.field ?? key,
    value,
  ]);
  const body: object = Object.fromEntries(fields);
  switch (action) {
    case "list":
    case "list-detail":
      return { method: "GET", path: all };
    case "add":
      return { method: "POST", path: all, body: { name, ...body } };
    case "update":
      return { method: "PUT", path: one, body };
    case "remove":
      return { method: "DELETE", path: one };
    case "force-remove":
      return { method: "DELETE", path: `${one}?force=true` };
  }
}
