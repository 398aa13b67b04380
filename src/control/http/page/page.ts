import { createHash } from "node:crypto";
import { type Answer, STATUS } from "../answer.ts";
import { APP_SCRIPT } from "./app-script.ts";
import { PICTURE_SCRIPT } from "./picture-script.ts";
import { REFERENCE_SCRIPT } from "./reference-script.ts";
import { STYLE } from "./style.ts";

const SCRIPT = `"use strict";${PICTURE_SCRIPT}${REFERENCE_SCRIPT}${APP_SCRIPT}`;

const MARKUP = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Portolan: HTTP API</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<header>
<h1><svg viewBox="0 0 24 24" aria-hidden="true" stroke-width="1.5"><circle cx="12" cy="12" r="9.5"/><path d="M12 2.5 14 10l7.5 2-7.5 2-2 7.5-2-7.5-7.5-2 7.5-2z"/></svg>Portolan</h1>
<nav aria-label="Views"><a href="#api">API</a><a href="#live">Live</a></nav>
<label class="token">Token <input id="token" type="password" autocomplete="off" placeholder="where one is set"></label>
</header>
<main>
<div id="notice" class="notice" role="status"></div>
<div id="api">
<p class="lead">Everything that commands can do, over HTTP. Open an operation to see its fields and to try it here; the token stays in this page. The document behind it: <a href="/api/v1/openapi.json">openapi.json</a>.</p>
<div id="reference"><noscript>This page writes itself from openapi.json and needs JavaScript for that.</noscript></div>
</div>
<div id="live" hidden>
<p class="lead">What listens, where it leads and how the servers are, every two seconds and at every change of health.</p>
<div id="figures" class="figures"></div>
<div id="picture" class="frame"></div>
<h2>Changes of health</h2>
<p id="quiet" class="lead">None since this page is open.</p>
<ul id="events" class="events"></ul>
</div>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;

/** Nothing but what stands in the page runs, and it talks to nobody but this controller. */
const POLICY = [
  "default-src 'none'",
  `script-src '${hashOf(SCRIPT)}'`,
  `style-src '${hashOf(STYLE)}'`,
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** The page at `/`: the reference of the API, and a picture of what runs. */
export const PAGE: Answer = {
  status: STATUS.ok,
  headers: {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": POLICY,
    "x-frame-options": "DENY",
  },
  body: MARKUP,
};
