/** What is listed and watched. */
export interface ResourceQuery {
  /** `/api/v1/services` */
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}
