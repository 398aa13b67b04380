/** How the store calls a manager. */
export const MANAGER_OWNER = "manager";
