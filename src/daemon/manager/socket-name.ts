/** Where those on this machine ask a manager, in its state folder. */
export const MANAGER_SOCKET = "manager.sock";
