import { expect, test } from "vitest";
import { ERRNO } from "../../platform/errno.ts";
import { ipAddress, unixAddress } from "../../platform/socket-address.ts";
import { listenError } from "./listen-error.ts";

const HERE = ipAddress("127.0.0.1", 80);

test.each([
  [
    listenError(HERE, -ERRNO.EADDRINUSE, { holder: { pid: 7, program: "nginx" } }),
    "127.0.0.1:80: EADDRINUSE; nginx (pid 7) listens there: stop it, or choose another address",
  ],
  [
    listenError(HERE, -ERRNO.EADDRINUSE, { protocol: "UDP" }),
    "127.0.0.1:80 (UDP): EADDRINUSE; another program listens there: stop it, or choose another address",
  ],
  [
    listenError(unixAddress("/none/x"), -ERRNO.ENOENT),
    "unix:/none/x: ENOENT; the folder does not exist: make it",
  ],
  [listenError(HERE, -ERRNO.EINVAL), "127.0.0.1:80: EINVAL"],
])("says where, why and what to do: %#", (error, text) => {
  expect(error).toMatchObject({ code: "ERR_LISTEN", message: `can not listen on ${text}` });
});
