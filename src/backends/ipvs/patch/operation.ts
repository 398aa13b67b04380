/** What a patch does to a service or an endpoint. */
export const OPERATIONS = ["NoOp", "Create", "Update", "Delete"] as const;

export type Operation = (typeof OPERATIONS)[number];
