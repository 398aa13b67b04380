import { StepError } from "./command.mjs";

/** The same as `engines.node` in package.json. */
const MINIMUM = /** @type {const} */ ([20, 19]);

/**
 * Refuses a Node that lacks what we use, before something fails with a worse message.
 * @param {string} version such as `20.20.2`
 */
export function checkNodeVersion(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [needMajor, needMinor] = MINIMUM;
  if (major > needMajor || (major === needMajor && minor >= needMinor)) return;
  throw new StepError(
    `Node ${version} is too old: Portolan needs ${MINIMUM.join(".")} or newer. ` +
      "Install one from https://nodejs.org or with a version manager, then run this again.",
  );
}
