import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { setImmediate as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startCli } from "../support/cli.ts";
import { kubeService } from "../support/kube-objects.ts";
import { requires } from "../support/requires.ts";

const MEGABYTE = 1_048_576;
/** What is not kept of a service, as a tool may have written it there. */
const JUNK = "x".repeat(100_000);

/** Sends a list in one page, as a server does that answers from its cache; `count` services of 100 kB. */
async function sendServices(response: ServerResponse, count: number): Promise<void> {
  response.write(
    '{"kind":"ServiceList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[',
  );
  for (let index = 0; index < count; index += 1) {
    const service = kubeService(`web-${index}`, (index % 250) + 1, {
      clusterIP: `10.${index >> 8}.0.${index & 255}`,
      clusterIPs: [`10.${index >> 8}.0.${index & 255}`],
    });
    const metadata = { ...service.metadata, annotations: { junk: JUNK } };
    const text = `${index === 0 ? "" : ","}${JSON.stringify({ ...service, metadata })}`;
    if (!response.write(text)) await new Promise((resolve) => response.once("drain", resolve));
    else await pause();
  }
  response.end("]}");
}

async function serveServices(count: number): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url?.includes("watch=true")) response.write("");
    else if (request.url?.startsWith("/api/v1/services") === true) {
      void sendServices(response, count);
    } else response.end('{"metadata":{"resourceVersion":"7"},"items":[]}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("no port");
  return `http://127.0.0.1:${address.port}`;
}

/** The most memory that following so many services took. */
async function peakBytes(count: number): Promise<number> {
  const url = await serveServices(count);
  const cli = startCli(
    ["run", "--from", "kube", "--kube-server", url, "--to", "print", "--format", "brief"],
    { env: { NODE_OPTIONS: "--max-old-space-size=64" } },
  );
  await cli.waitFor(/^sync$/m);
  expect(cli.stdout.match(/web-/g)?.length).toBe(count);
  const [, kilobytes] =
    /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${cli.pid}/status`, "utf8")) ?? [];
  await cli.stop();
  return Number(kilobytes) * 1024;
}

test(
  "a list of 100 MB in one page is decoded as it comes: it takes no 100 MB",
  requires("linux"),
  async () => {
    const small = await peakBytes(10);
    const large = await peakBytes(1000);
    expect((large - small) / MEGABYTE).toBeLessThan(90);
  },
);
