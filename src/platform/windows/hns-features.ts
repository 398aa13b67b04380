/** Version of the Host Network Service. */
export interface HnsVersion {
  readonly major: number;
  readonly minor: number;
}

/** What an HNS can do that another one may not. */
export interface HnsFeatures {
  /** The API and the schema that all of this stands on. */
  readonly v2: boolean;
  readonly remoteSubnet: boolean;
  /** Direct server return: endpoints answer clients themselves. */
  readonly dsr: boolean;
  readonly ilb: boolean;
  readonly localRoutedVip: boolean;
  /** Comes with direct server return. */
  readonly preserveDip: boolean;
  readonly dualStack: boolean;
  readonly affinity: boolean;
  /** Load balancers change in place; else they are removed and made anew. */
  readonly modifyLoadBalancer: boolean;
}

/** From `[major, minor]` on; up to the end of `throughMajor` where there is one. */
interface VersionRange {
  readonly from: readonly [number, number];
  readonly throughMajor?: number;
}

const RANGES: Readonly<Record<keyof HnsFeatures, readonly VersionRange[]>> = {
  v2: [{ from: [9, 2] }],
  remoteSubnet: [{ from: [9, 2] }],
  dsr: [{ from: [9, 3], throughMajor: 9 }, { from: [10, 2] }],
  ilb: [{ from: [9, 2] }],
  localRoutedVip: [{ from: [9, 2] }],
  preserveDip: [{ from: [9, 3], throughMajor: 9 }, { from: [10, 2] }],
  dualStack: [{ from: [11, 10] }],
  affinity: [{ from: [12, 0] }],
  modifyLoadBalancer: [{ from: [15, 5] }],
};

/** The first that has all of them. */
export const NEWEST_HNS: HnsVersion = { major: 15, minor: 5 };

export function featuresOf(version: HnsVersion): HnsFeatures {
  const has = (feature: keyof HnsFeatures): boolean =>
    RANGES[feature].some((range) => isIn(range, version));
  return {
    v2: has("v2"),
    remoteSubnet: has("remoteSubnet"),
    dsr: has("dsr"),
    ilb: has("ilb"),
    localRoutedVip: has("localRoutedVip"),
    preserveDip: has("preserveDip"),
    dualStack: has("dualStack"),
    affinity: has("affinity"),
    modifyLoadBalancer: has("modifyLoadBalancer"),
  };
}

function isIn({ from: [fromMajor, fromMinor], throughMajor }: VersionRange, version: HnsVersion) {
  const { major, minor } = version;
  if (throughMajor !== undefined && major > throughMajor) return false;
  return major > fromMajor || (major === fromMajor && minor >= fromMinor);
}
