import { type Listener, listenerSchema } from "../../core/model/listener.ts";
import { type ListenerConfig, PLAIN_LISTENER } from "../../proxy/engine-config.ts";

/** Time-outs and buffers of what is no listener of its own. */
const DEFAULTS: Listener = listenerSchema.parse({
  kind: "Listener",
  name: "defaults",
  address: "127.0.0.1",
  port: 1,
  service: "portolan/defaults",
});

const { proxyProtocol, idleTimeoutMs, connectTimeoutMs, inBufferBytes, outBufferBytes } = DEFAULTS;

/** A listener that the addresses of services make, in what its maker says; the rest is as usual. */
export function serviceListener(
  own: Pick<ListenerConfig, "key" | "address" | "mode" | "upstream"> & Partial<ListenerConfig>,
): ListenerConfig {
  return {
    proxyProtocol,
    access: undefined,
    idleTimeoutMs,
    connectTimeoutMs,
    inBufferBytes,
    outBufferBytes,
    allowOthers: false,
    ...PLAIN_LISTENER,
    ...own,
  };
}
