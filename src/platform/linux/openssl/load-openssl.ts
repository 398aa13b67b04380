import { CoreError, messageOf } from "../../../core/errors.ts";
import { OpenSslCalls } from "./openssl-calls.ts";

const MIN_MAJOR = 3;

/**
 * Node's OpenSSL, for this thread.
 * @throws CoreError ERR_NOT_POSSIBLE_HERE where this Node has none that can be called, or an older one
 */
export function loadOpenSsl(): OpenSslCalls {
  const calls = bind();
  const major = calls.versionMajor();
  if (major >= MIN_MAJOR) return calls;
  throw new CoreError(
    "ERR_NOT_POSSIBLE_HERE",
    `TLS: this Node has OpenSSL ${major}; expected ${MIN_MAJOR}.0 or newer`,
  );
}

function bind(): OpenSslCalls {
  try {
    return new OpenSslCalls();
  } catch (cause) {
    const reason = messageOf(cause);
    throw new CoreError(
      "ERR_NOT_POSSIBLE_HERE",
      `TLS: this Node does not export OpenSSL (${reason}); use a Node from nodejs.org`,
      { cause },
    );
  }
}
