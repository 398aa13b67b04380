import { register } from "node:module";

register("./vitest-hooks.mjs", import.meta.url);
