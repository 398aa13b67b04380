import { type Answer, STATUS } from "../answer.ts";
export const PAGE: Answer = {
  status: STATUS.ok,
  headers: { "content-type": "text/html; charset=utf-8" },
  body: "x",
};
