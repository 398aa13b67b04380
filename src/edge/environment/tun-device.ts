/** The device behind which the tunnel stands. Its link, MTU and routes are the environment's business. */
export interface TunDevice {
  readonly name: string;
  close(): Promise<void>;
}

/** Opens the device, or finds it again; the kernel shows its link under that name from then on. */
export type OpenTun = (plan: { readonly name: string; readonly mtu: number }) => Promise<TunDevice>;
