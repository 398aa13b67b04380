/**
 * `portolan` as a child of the demo: it does not outlive it, however that ends. It is in a process group of
 * its own, so that a Ctrl-C of the terminal reaches it once, from the demo.
 */
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
// Who listens for that keeps the process from ending by itself.
process.channel?.unref();

await import(new URL("../../dist/cli/main.js", import.meta.url).href);
