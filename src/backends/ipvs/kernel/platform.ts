import type { IpSets } from "../../../platform/linux/ipset/ip-sets.ts";
import type { IpvsTable } from "../../../platform/linux/ipvs/ipvs-table.ts";
import type { ServiceLink } from "../../../platform/linux/links/service-link.ts";

/** What the proxier touches, all of one network namespace. */
export interface IpvsPlatform {
  readonly ipvs: IpvsTable;
  readonly sets: IpSets;
  readonly link: ServiceLink;
}

/** kube-proxy's name of the link with the addresses of services. */
export const LINK_NAME = "kube-ipvs0";
