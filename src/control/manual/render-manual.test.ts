import { expect, test } from "vitest";
import { FIXTURE_RESOURCES } from "../grammar/resources.fixture.ts";
import { renderManual } from "./render-manual.ts";

test("man tells how commands read, and all resources", () => {
  const text = renderManual(FIXTURE_RESOURCES);
  expect(text).toMatch(/^ACTION RESOURCE \[NAME\]/);
  expect(text).toContain("\n  force-remove (R)     Takes it away all the same;");
  for (const { name, summary } of FIXTURE_RESOURCES) {
    expect(text).toMatch(new RegExp(`\\n {2}${name}\\b.* {2}${summary}\\n`));
  }
  expect(text).toContain("\n  save FILE ");
});

test("man RESOURCE tells what can be done to it, place by place", () => {
  expect(renderManual(FIXTURE_RESOURCES, "server-group")).toBe(`\
server-group (sg): servers that do the same

By itself
  add server-group NAME ...  makes one
  list server-group          names all
  remove server-group NAME   takes it away

In PLACE
  add server-group NAME PLACE ...  lets it serve there
  remove server-group NAME PLACE   lets it serve there no longer

PLACE is one of
  in upstream NAME
  in service NAME

man server-group ACTION tells more: add, list, remove.`);
});

test("man RESOURCE ACTION tells all parameters and examples", () => {
  expect(renderManual(FIXTURE_RESOURCES, "server", "add")).toBe(`\
add server NAME to server-group NAME address ADDRESS ...
  adds it

Parameters
  address ADDRESS  where it listens; HOST:PORT, [IPV6]:PORT or unix:PATH; required
  weight NUMBER    share of the traffic; 0 takes no new connections; 0 to 1000; otherwise 10

Examples
  add server s1 to server-group g0 address 10.0.2.1:80 weight 10`);
});

test("an action that a resource has in two places is told for both", () => {
  const text = renderManual(FIXTURE_RESOURCES, "server-group", "add");
  expect(text).toContain("add server-group NAME ...\n  makes one");
  expect(text).toContain(
    "add server-group NAME to upstream NAME ...\nadd server-group NAME to service NAME ...",
  );
});

test("values that have other words are told with them", () => {
  const text = renderManual(FIXTURE_RESOURCES, "tcp-lb", "update");
  expect(text).toContain("what is spoken; http/1.x for http; otherwise tcp");
  expect(text).not.toContain("required");
});
