import type { Reporter } from "../../core/status/status-board.ts";
import type { Controllers } from "./controllers.ts";

/** Tells the board which controllers are kept and do not listen. */
export function reportControllers(controllers: Controllers, report: Reporter): void {
  report.ok("take commands");
  controllers.follow((problems) => report.notHonoured(problems));
}
