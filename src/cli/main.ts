#!/usr/bin/env node
import { hostname } from "node:os";
import process from "node:process";
import { endEarly } from "./end-early.ts";

const argv = process.argv.slice(2);
endEarly(argv, process);

// `portolan view FILE | head`: who read has seen enough. What runs on, such as `run`, listens as well.
process.stdout.on("error", (error) => {
  const isRead = !("code" in error) || error.code !== "EPIPE";
  if (!isRead || process.stdout.listenerCount("error") > 1) return;
  process.stderr.write(`portolan: standard output: ${error.message}\n`);
  process.exit(1);
});

// Only now: to load the program takes a while, in which it may be asked to end.
const { runCli } = await import("./run-cli.ts");
process.exitCode = await runCli(argv, {
  stdout: process.stdout,
  stderr: process.stderr,
  // To look at it opens it.
  get stdin() {
    return process.stdin;
  },
  environment: process.env,
  hostName: hostname(),
});
