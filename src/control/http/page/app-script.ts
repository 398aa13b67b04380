/** The part of the page's script that talks to the browser: tabs, token, requests, events. */
export const APP_SCRIPT: string = String.raw`
const ALL = '/api/v1/module/all';
const WATCH = '/api/v1/watch/server-group/-/server/-/health-check';
const REFRESH_MS = 2000;
const MOST_EVENTS = 30;
const one = (selector, from) => (from || document).querySelector(selector);
const state = { doc: undefined, tag: '', before: undefined, speeds: new Map(), timer: 0, watching: false };

function token() {
  return one('#token').value.trim();
}

function withToken(headers) {
  return token() === '' ? headers : Object.assign({ authorization: 'Bearer ' + token() }, headers);
}

function notice(text) {
  one('#notice').textContent = text;
}

function explain(status) {
  return status === 401 ? 'This controller wants its token: give it above.' : 'The controller answered ' + status + '.';
}

async function showReference() {
  const response = await fetch('/api/v1/openapi.json');
  state.doc = await response.json();
  one('#reference').innerHTML = referenceHtml(state.doc);
}

function fill(details) {
  const inside = one('.inside', details);
  if (!details.open || inside.childElementCount > 0) return;
  const operation = state.doc.paths[details.dataset.path][details.dataset.verb];
  inside.innerHTML = insideHtml(state.doc, operation);
  one('form', inside).addEventListener('input', () => showCall(details));
  showCall(details);
}

function readForm(details) {
  const fields = [...details.querySelectorAll('input')].map((input) => ({
    in: input.dataset.in, name: input.name, value: input.type === 'checkbox' ? input.checked : input.value,
  }));
  const area = one('textarea', details);
  return requestOf(details.dataset.verb, details.dataset.path, fields, area ? area.value : undefined);
}

function showCall(details) {
  one('.call', details).textContent = curlOf(readForm(details), location.origin, token() !== '');
}

async function send(details) {
  const request = readForm(details);
  const outcome = one('.outcome', details);
  const stop = new AbortController();
  outcome.textContent = '...';
  try {
    const response = await fetch(request.url, { method: request.method, headers: withToken(request.headers), body: request.body, cache: 'no-store', signal: stop.signal });
    const head = response.status + ' ' + response.statusText + tagOf(response);
    if ((response.headers.get('content-type') || '').startsWith('text/event-stream')) {
      stop.abort();
      outcome.textContent = head + '\nevents come here until it is closed: see the live view';
      return;
    }
    outcome.textContent = head + '\n' + pretty(await response.text());
  } catch (error) {
    outcome.textContent = String(error);
  }
}

function tagOf(response) {
  return ['etag', 'location'].map((name) => [name, response.headers.get(name)])
    .filter((pair) => pair[1]).map((pair) => '\n' + pair.join(': ')).join('');
}

function pretty(text) {
  try { return JSON.stringify(JSON.parse(text), undefined, 2); } catch { return text; }
}

function measure(all) {
  const now = performance.now();
  const sums = new Map();
  for (const type of LISTENERS) {
    for (const listener of all[type] || []) {
      sums.set(type + ' ' + listener.name, { connections: Number(listener.totalConnections) || 0, bytes: (Number(listener.bytesIn) || 0) + (Number(listener.bytesOut) || 0) });
    }
  }
  const before = state.before;
  if (before !== undefined) {
    const seconds = (now - before.now) / 1000;
    state.speeds = new Map([...sums].filter((entry) => before.sums.has(entry[0])).map((entry) => {
      const old = before.sums.get(entry[0]);
      return [entry[0], { connections: Math.max(0, entry[1].connections - old.connections) / seconds, bytes: Math.max(0, entry[1].bytes - old.bytes) / seconds }];
    }));
  }
  state.before = { now: now, sums: sums };
}

async function refresh() {
  clearTimeout(state.timer);
  if (isLive() && document.visibilityState === 'visible') {
    try {
      const headers = withToken(state.tag === '' ? {} : { 'if-none-match': state.tag });
      const response = await fetch(ALL, { headers: headers, cache: 'no-store' });
      if (response.status === 200) {
        state.tag = response.headers.get('etag') || '';
        draw(await response.json());
      }
      notice(response.status === 200 || response.status === 304 ? '' : explain(response.status));
      if (response.ok || response.status === 304) watch();
    } catch (error) {
      notice('The controller does not answer (' + error.message + '). It is asked again.');
    }
  }
  clearTimeout(state.timer);
  state.timer = setTimeout(refresh, REFRESH_MS);
}

function draw(all) {
  measure(all);
  one('#figures').innerHTML = figuresOf(all).map((figure) =>
    '<div class="' + (figure.bad ? 'bad' : '') + '"><b>' + escapeText(figure.value) + '</b><span>' + figure.label + '</span></div>').join('');
  one('#picture').innerHTML = svgOf(layOut(pictureOf(all, (id) => state.speeds.get(id))));
}

/** Events by fetch, since an EventSource can not send a token. */
async function watch() {
  if (state.watching) return;
  state.watching = true;
  try {
    const response = await fetch(WATCH, { headers: withToken({}) });
    if (response.ok) await readEvents(response.body.pipeThrough(new TextDecoderStream()).getReader());
  } catch {
    // The next refresh begins anew.
  }
  state.watching = false;
}

async function readEvents(reader) {
  let rest = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const blocks = (rest + part.value).split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      const data = block.split('\n').find((line) => line.startsWith('data: '));
      if (data) tell(JSON.parse(data.slice(6)));
    }
  }
}

function tell(event) {
  const item = document.createElement('li');
  item.innerHTML = '<span>' + new Date().toLocaleTimeString() + '</span><span class="' + escapeText(event.health) + '">' + escapeText(event.health) + '</span><span>' +
    escapeText(event.server + ' in ' + event.serverGroup + (event.address ? ' (' + event.address + ')' : '') + (event.reason ? ': ' + event.reason : '')) + '</span>';
  const list = one('#events');
  list.prepend(item);
  while (list.childElementCount > MOST_EVENTS) list.lastElementChild.remove();
  one('#quiet').hidden = true;
  refresh();
}

function isLive() {
  return location.hash === '#live';
}

function showTab() {
  one('#live').hidden = !isLive();
  one('#api').hidden = isLive();
  for (const link of document.querySelectorAll('nav a')) {
    if ((link.hash === '#live') === isLive()) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  notice('');
  refresh();
}

addEventListener('hashchange', showTab);
document.addEventListener('visibilitychange', refresh);
document.addEventListener('toggle', (event) => { if (event.target.matches('.operation')) fill(event.target); }, true);
document.addEventListener('submit', (event) => { event.preventDefault(); send(event.target.closest('.operation')); });
one('#token').addEventListener('change', () => { state.tag = ''; refresh(); });
showReference().catch((error) => notice('The reference could not be read: ' + error.message));
showTab();
`;
