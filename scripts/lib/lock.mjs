import { StepError } from "./command.mjs";

/**
 * @typedef {object} LockedPackage
 * @property {string} [version]
 * @property {boolean} [dev]
 * @property {boolean} [optional]
 * @property {boolean} [devOptional]
 * @property {boolean} [peer]
 * @property {readonly string[]} [cpu]
 * @property {readonly string[]} [os]
 * @property {Readonly<Record<string, string>>} [optionalDependencies]
 *
 * @typedef {Readonly<Record<string, LockedPackage>>} LockedPackages by path; the project itself is ""
 */

const SYSTEMS = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const PROCESSORS = ["arm", "arm64", "ia32", "ppc64", "riscv64", "s390x", "wasm32", "x64"];

/**
 * Whether what npm wrote down about `node_modules` is what the lock file wants. Optional packages
 * are those of other platforms, so they may be missing.
 * @param {LockedPackages} wanted
 * @param {LockedPackages} installed
 */
export function isInstalled(wanted, installed) {
  const complete = Object.entries(wanted).every(
    ([path, { version, optional, devOptional, peer }]) => {
      if (path === "") return true;
      const found = installed[path];
      if (found === undefined) return optional === true || devOptional === true || peer === true;
      return found.version === version;
    },
  );
  return complete && Object.keys(installed).every((path) => wanted[path] !== undefined);
}

/**
 * The packages of other platforms that a lock file should hold and does not. npm leaves them out where
 * the registry lacks them, and then refuses to install by that lock file.
 * @param {LockedPackages} packages
 * @returns {Readonly<Record<string, LockedPackage>>}
 */
export function missingOptional(packages) {
  /** @type {Record<string, LockedPackage>} */
  const missing = {};
  for (const [owner, { optionalDependencies, dev }] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(optionalDependencies ?? {})) {
      const places = [`node_modules/${name}`, `${owner}/node_modules/${name}`];
      if (places.some((place) => packages[place] !== undefined)) continue;
      missing[`node_modules/${name}`] = forPlatformOf(name, version, dev === true);
    }
  }
  return missing;
}

/**
 * Such packages are named after their platform: `@biomejs/cli-linux-x64-musl`.
 * @param {string} name
 * @param {string} version
 * @param {boolean} dev
 * @returns {LockedPackage}
 */
function forPlatformOf(name, version, dev) {
  const words = name.split(/[/-]/);
  const cpu = PROCESSORS.filter((word) => words.includes(word));
  const os = SYSTEMS.filter((word) => words.includes(word));
  if (cpu.length !== 1) throw new StepError(`${name}: the name does not tell its processor`);
  return { version, cpu, ...(dev && { dev }), optional: true, ...(os.length > 0 && { os }) };
}
