import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { parseTargetRule, type TargetRule } from "../../core/model/target-rules.ts";
import { WAY_WORDS, type WayWord } from "../../core/model/websocks.ts";
import { renderPac } from "./render-pac.ts";

const AGENT = "SOCKS5 127.0.0.1:1080; PROXY 127.0.0.1:1080";

function rulesOf(texts: readonly string[]): readonly TargetRule<WayWord>[] {
  return texts.flatMap((text) => parseTargetRule(text, WAY_WORDS) ?? []);
}

/** As a browser runs it. */
function ask(host: string, ...texts: readonly string[]): unknown {
  const script = renderPac("127.0.0.1:1080", rulesOf(texts));
  const dnsDomainIs = (name: string, domain: string): boolean => name.endsWith(domain);
  return runInNewContext(`${script}FindProxyForURL("http://x/", ${JSON.stringify(host)})`, {
    dnsDomainIs,
  });
}

test.each([
  ["a.example", [], AGENT],
  ["printer.local", ["direct .local"], "DIRECT"],
  ["local", ["direct .local"], "DIRECT"],
  ["LOCAL", ["direct .local"], "DIRECT"],
  ["notlocal", ["direct .local"], AGENT],
  ["local", ["direct *.local"], AGENT],
  ["ads.example", ["block ads.example", "direct *"], AGENT],
  ["other.example", ["block ads.example", "direct *"], "DIRECT"],
  // What a name alone does not tell is the agent's to judge, and all after it.
  ["a.local", ["direct 10.0.0.0/8", "direct .local"], AGENT],
  ["a.local", ["direct .local:80", "direct .local"], AGENT],
])("%s by %j goes %s", (host, rules, way) => {
  expect(ask(host, ...rules)).toBe(way);
});

test("a name can not become code", () => {
  const script = renderPac('1.2.3.4:1"; evil(); "', []);
  expect(() => runInNewContext(`${script}FindProxyForURL("", "")`)).not.toThrow();
});
