import { canonicalIp } from "../../core/model/address.ts";
import type { Listener } from "../../core/model/listener.ts";
import { invalid } from "../../core/model/problems.ts";
import { formatPlace } from "../../core/model/socket-path.ts";
import type { Field } from "./fields.ts";

/** Of connections, which unix sockets have too. */
export const ADDRESS: Field<Listener> = addressField("IP:PORT, [IPV6]:PORT or unix:PATH", true);

/** Of datagrams. */
export const IP_ADDRESS: Field<Listener> = addressField("IP:PORT or [IPV6]:PORT", false);

function addressField(form: string, unix: boolean): Field<Listener> {
  return {
    specs: [
      {
        kind: "address",
        name: "address",
        field: "address",
        required: true,
        unix,
        help: `Where it listens: ${form}; to change it, remove and add`,
      },
    ],
    isFixed: true,
    show: ({ address, port }) => formatPlace(address, port),
    read: (listener, params, problems) => {
      const given = params.address("address");
      if (given?.kind === "unix" && given.path.startsWith("/")) {
        return { ...listener, address: given.path, port: 0 };
      }
      const address = given?.kind === "tcp" ? canonicalIp(given.host) : undefined;
      if (given?.kind === "tcp" && address !== undefined) {
        return { ...listener, address, port: given.port };
      }
      const shown = given?.kind === "unix" ? `unix:${given.path}` : given?.host;
      const expected = `${form}, IP being one of this machine, 0.0.0.0 or ::`;
      problems.push(invalid(["address"], shown, expected));
      return listener;
    },
  };
}
