/**
 * What `npm start` runs: the quick start as a product. Three small servers in this process, and the
 * built `portolan up` as a child.
 */
import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { loadSocketHolder, loadStateFolder } from "./demo/built.mjs";
import { ChildInstance } from "./demo/child-instance.mjs";
import { parseDemoOptions } from "./demo/options.mjs";
import { startDemoServer } from "./demo/server.mjs";
import { describeTaken } from "./demo/taken-ports.mjs";
import { readyText, wantedPorts, withPorts } from "./demo/texts.mjs";
import { main, ROOT, StepError } from "./lib/command.mjs";

const QUICKSTART = join(ROOT, "examples", "quickstart.yaml");
const READY_WITHIN_MS = 30_000;
const LOOK_AGAIN_MS = 500;
const OWNER_ONLY = 0o700;

await main(async () => {
  const options = parseDemoOptions(process.argv.slice(2));
  if (typeof options === "string") {
    console.log(options);
    return;
  }
  await refuseTaken(options);
  const end = new AbortController();
  /** @type {ChildInstance | undefined} */
  let instance;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      instance?.stop();
      end.abort();
    });
  }
  whenLeftAlone(() => process.kill(process.pid, "SIGTERM"));
  const state = options.state ?? (await demoFolder());
  const path = quickstartFile(options, state);
  // As short as it can be: it is shown beside all that comes from it.
  const file = path === QUICKSTART ? relative(ROOT, path) : path;

  const servers = await Promise.all(
    options.serverPorts.map((port, index) => startDemoServer(`demo-${index + 1}`, port)),
  );
  console.log(`portolan: three demo servers listen on ports ${options.serverPorts.join(", ")}`);
  console.log("portolan: starting the instance");
  instance = new ChildInstance(instanceArgs(options, state, file));
  const waiting = AbortSignal.any([end.signal, AbortSignal.timeout(READY_WITHIN_MS)]);
  const isReady = await instance.waitUntilReady(state, waiting);
  if (!end.signal.aborted) {
    if (!isReady && waiting.aborted) {
      console.log(
        `portolan: not all is well yet; npx portolan status --state ${fromHome(state)} says why`,
      );
    }
    if (isReady || waiting.aborted) {
      const shown = {
        file,
        state: fromHome(state),
        hasRedisCli: isOnPath("redis-cli"),
      };
      console.log(readyText({ ports: options, ...shown }));
    }
  }
  await Promise.race([instance.ended, aborted(end.signal)]);
  if (end.signal.aborted) console.log("\nportolan: ending");
  const how = await instance.ended;
  await Promise.all(servers.map((server) => server.close()));
  if (!end.signal.aborted) throw new StepError(`portolan ended (${how})`);
});

/** @param {import("./demo/options.mjs").DemoPorts} ports */
async function refuseTaken(ports) {
  const holders = process.platform === "linux" ? await loadSocketHolder() : undefined;
  const taken = await describeTaken(wantedPorts(ports), (port) => {
    const at = /** @type {const} */ ({ family: "v4", ip: "127.0.0.1", port });
    const holder = holders?.findSocketHolder(at, "TCP");
    return holder && `${holder.program} (pid ${holder.pid})`;
  });
  if (taken.length > 0) throw new StepError(taken.map((line) => `portolan: ${line}`).join("\n"));
}

/** A folder of its own: the demo is not in the way of an instance that does work. */
async function demoFolder() {
  const { defaultStateFolder } = await loadStateFolder();
  const folder = defaultStateFolder({
    environment: process.env,
    home: homedir(),
    os: process.platform,
  });
  return join(folder, "demo");
}

/**
 * The file that the instance follows.
 * @param {import("./demo/options.mjs").DemoPorts} ports
 * @param {string} state
 */
function quickstartFile(ports, state) {
  const text = withPorts(readFileSync(QUICKSTART, "utf8"), ports);
  if (text === undefined) return QUICKSTART;
  mkdirSync(state, { recursive: true, mode: OWNER_ONLY });
  const file = join(state, "quickstart.yaml");
  writeFileSync(file, text);
  return file;
}

/**
 * @param {import("./demo/options.mjs").DemoPorts} ports
 * @param {string} state
 * @param {string} file
 */
function instanceArgs(ports, state, file) {
  return [
    "up",
    ...["--from", `file:${file}`, "--to", "userspace", "--node", "quickstart", "--state", state],
    ...["--resp-listen", `127.0.0.1:${ports.respPort}`],
    ...["--http-listen", `127.0.0.1:${ports.httpPort}`],
    ...["--metrics-listen", `127.0.0.1:${ports.metricsPort}`],
    ...["--health-listen", `127.0.0.1:${ports.healthPort}`],
    ...["--log-level", "error", "--log-format", "pretty"],
  ];
}

/**
 * As a shell lets people write it.
 * @param {string} path
 */
function fromHome(path) {
  const home = `${homedir()}/`;
  return path.startsWith(home) ? `~/${path.slice(home.length)}` : path;
}

/** @param {string} program */
function isOnPath(program) {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/**
 * A signal to npm alone ends it and its shell, but does not come here.
 * @param {() => void} act
 */
function whenLeftAlone(act) {
  const parent = process.ppid;
  if (process.env["npm_lifecycle_event"] !== "start") return;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    act();
  }, LOOK_AGAIN_MS);
  timer.unref();
}

/**
 * @param {AbortSignal} signal
 * @returns {Promise<undefined>}
 */
function aborted(signal) {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined));
  });
}
