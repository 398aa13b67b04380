/** Who owns what delegates put into the store. */
export const MESH_OWNER = "mesh";
