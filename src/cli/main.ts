#!/usr/bin/env node
import { hostname } from "node:os";
import process from "node:process";
import { runCli } from "./run-cli.ts";

// `portolan view FILE | head`: who read has seen enough. What runs on, such as `run`, listens as well.
process.stdout.on("error", (error) => {
  if (!("code" in error) || error.code !== "EPIPE") throw error;
});

process.exitCode = await runCli(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  environment: process.env,
  hostName: hostname(),
});
