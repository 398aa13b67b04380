/**
 * The part of the page's script that draws what runs: plain functions of what the API answered, so
 * that they can be tried without a browser. It is text because browsers get it as it stands.
 */
export const PICTURE_SCRIPT: string = String.raw`
const LISTENERS = ['tcp-lb', 'udp-lb', 'socks5-server', 'dns-server'];
const COLUMNS = ['LISTENERS', 'UPSTREAMS', 'SERVER GROUPS', 'SERVERS'];
const BOX = { width: 236, height: 48, gap: 14, step: 296, top: 44, left: 16 };
const MOST = 80;

function escapeText(text) {
  const names = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return String(text).replace(/[&<>"']/g, (one) => names[one]);
}

function amount(number, unit) {
  const steps = ['', ' k', ' M', ' G', ' T'];
  let step = 0;
  let value = Number(number) || 0;
  while (value >= 1000 && step < steps.length - 1) { value /= 1000; step += 1; }
  const shown = value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1);
  return shown + (unit === undefined ? steps[step].trim() : (steps[step] || ' ') + unit);
}

/** Boxes in four columns and what leads where, in an order in which lines seldom cross. */
function pictureOf(all, speedOf) {
  const columns = [[], [], [], []];
  const links = [];
  const seen = new Map();
  const put = (column, id, box) => {
    if (seen.has(id)) return false;
    const node = Object.assign({ id: id, column: column }, box);
    seen.set(id, node);
    columns[column].push(node);
    return true;
  };
  const byName = (list) => new Map((list || []).map((one) => [one.name, one]));
  const groups = byName(all['server-group']);
  const backends = new Map([...byName(all.service), ...byName(all.upstream)]);
  const addServers = (id, servers) => {
    for (const server of servers || []) {
      put(3, id + '/' + server.name, serverBox(server));
      links.push({ from: id, to: id + '/' + server.name, state: server.weight === 0 ? 'off' : server.health });
    }
  };
  const addGroup = (name) => {
    const id = 'group ' + name;
    const group = groups.get(name);
    if (put(2, id, groupBox(name, group))) addServers(id, group && group.contains && group.contains.server);
    return id;
  };
  const addBackend = (name) => {
    const id = 'backend ' + name;
    const backend = backends.get(name);
    if (!put(1, id, backendBox(name, backend))) return id;
    const inside = (backend && backend.contains) || {};
    for (const group of inside['server-group'] || []) {
      const box = groups.get(group.name);
      links.push({ from: id, to: addGroup(group.name), state: group.weight === 0 ? 'off' : groupState(box) });
    }
    if ((inside.endpoint || []).length > 0 && !groups.has(name)) {
      const own = 'own ' + name;
      put(2, own, { title: name, note: 'its own endpoints', state: stateOf(inside.endpoint) });
      links.push({ from: id, to: own, state: stateOf(inside.endpoint) });
      addServers(own, inside.endpoint);
    }
    return id;
  };
  for (const type of LISTENERS) {
    for (const listener of all[type] || []) {
      const id = type + ' ' + listener.name;
      put(0, id, listenerBox(type, listener, speedOf(id)));
      const name = listener.backend || listener.rrsets || listener.upstream;
      if (name) links.push({ from: id, to: addBackend(name), state: 'plain' });
    }
  }
  for (const name of backends.keys()) addBackend(name);
  for (const name of groups.keys()) addGroup(name);
  return { columns: columns, links: links };
}

function listenerBox(type, listener, speed) {
  const traffic = speed ? ' \u00b7 ' + amount(speed.connections) + '/s \u00b7 ' + amount(speed.bytes, 'B/s') : '';
  const mode = type === 'tcp-lb' ? listener.protocol || 'tcp' : type.split('-')[0];
  const kind = (listener.listOfCertKey || []).length > 0 ? mode + ' + TLS' : mode;
  return {
    title: listener.name + '  ' + listener.address,
    note: kind + ' \u00b7 ' + amount(listener.connections) + ' open' + traffic,
    state: 'plain',
  };
}

function backendBox(name, backend) {
  if (backend === undefined) return { title: name, note: 'is not there', state: 'down' };
  const count = ((backend.contains && backend.contains['server-group']) || []).length;
  return { title: name, note: count === 1 ? '1 group' : count + ' groups', state: 'plain' };
}

function groupBox(name, group) {
  if (group === undefined) return { title: name, note: 'is not there', state: 'down' };
  const servers = (group.contains && group.contains.server) || [];
  const up = servers.filter((server) => server.health === 'up').length;
  const method = group.method ? group.method + ' \u00b7 ' : '';
  return { title: name, note: method + up + ' of ' + servers.length + ' up', state: stateOf(servers) };
}

function groupState(group) {
  return group === undefined ? 'down' : stateOf(group.contains && group.contains.server);
}

/** Up where at least one is, down where all that are known are down. */
function stateOf(servers) {
  const list = servers || [];
  if (list.some((server) => server.health === 'up')) return 'up';
  return list.some((server) => server.health === 'down') ? 'down' : 'idle';
}

function serverBox(server) {
  const why = server.health === 'down' && server.reason ? server.reason : '';
  const speed = typeof server.latency === 'number' ? ' \u00b7 ' + amount(server.latency, 'ms') : '';
  const usual = 'weight ' + server.weight + ' \u00b7 ' + amount(server.connections) + ' open' + speed;
  const isKnown = server.health === 'up' || server.health === 'down';
  return { title: server.name + '  ' + server.address, note: why || (isKnown ? usual : server.health + ' \u00b7 weight ' + server.weight), state: server.health, hint: server.health + (why ? ': ' + why : '') };
}

/** Gives every box its place: each stands beside the middle of what it leads to. */
function layOut(picture) {
  const places = new Map();
  const more = [];
  for (let column = 3; column >= 0; column -= 1) {
    let free = BOX.top;
    const shown = picture.columns[column].slice(0, MOST);
    for (const node of shown) {
      const targets = picture.links.filter((link) => link.from === node.id && places.has(link.to));
      const middle = targets.reduce((sum, link) => sum + places.get(link.to).y, 0) / targets.length;
      const y = Math.max(free, targets.length > 0 ? middle : free);
      places.set(node.id, { node: node, x: BOX.left + column * BOX.step, y: y });
      free = y + BOX.height + BOX.gap;
    }
    const rest = picture.columns[column].length - shown.length;
    if (rest > 0) more.push({ x: BOX.left + column * BOX.step, y: free + 12, count: rest });
  }
  const bottoms = [...places.values()].map((place) => place.y + BOX.height);
  const height = Math.max(160, ...bottoms, ...more.map((one) => one.y)) + 20;
  return { places: places, more: more, links: picture.links, height: height };
}

function svgOf(layout) {
  const width = BOX.left * 2 + BOX.step * 3 + BOX.width;
  const parts = COLUMNS.map((title, column) =>
    '<text class="head" x="' + (BOX.left + column * BOX.step) + '" y="26">' + title + '</text>');
  for (const link of layout.links) {
    const from = layout.places.get(link.from);
    const to = layout.places.get(link.to);
    if (from && to) parts.push(linkSvg(from, to, link.state));
  }
  for (const place of layout.places.values()) parts.push(boxSvg(place));
  for (const one of layout.more) {
    parts.push('<text class="small" x="' + one.x + '" y="' + one.y + '">and ' + one.count + ' more</text>');
  }
  return '<svg viewBox="0 0 ' + width + ' ' + Math.round(layout.height) + '" role="img" aria-label="What leads where">' + parts.join('') + '</svg>';
}

function linkSvg(from, to, state) {
  const x1 = from.x + BOX.width;
  const y1 = Math.round(from.y + BOX.height / 2);
  const y2 = Math.round(to.y + BOX.height / 2);
  const half = (x1 + to.x) / 2;
  const line = ['M', x1, y1, 'C', half, y1, half, y2, to.x, y2].join(' ');
  return '<path class="' + escapeText(state) + '" stroke-width="1.6" d="' + line + '"/>';
}

function boxSvg(place) {
  const node = place.node;
  const y = Math.round(place.y);
  const cut = (text, length) => (text.length > length ? text.slice(0, length - 1) + '\u2026' : text);
  const parts = [
    '<title>' + escapeText([node.title, node.note, node.hint].filter(Boolean).join('\n')) + '</title>',
    '<rect class="box" x="' + place.x + '" y="' + y + '" width="' + BOX.width + '" height="' + BOX.height + '" rx="6"/>',
    markSvg(place.x + 14, y + 18, node.state),
    '<text class="name" x="' + (place.x + 26) + '" y="' + (y + 20) + '">' + escapeText(cut(node.title, 29)) + '</text>',
    '<text class="small" x="' + (place.x + 26) + '" y="' + (y + 38) + '">' + escapeText(cut(node.note, 35)) + '</text>',
  ];
  return '<g class="' + escapeText(node.state) + '">' + parts.join('') + '</g>';
}

/** Shapes tell health as well as colours do. */
function markSvg(x, y, state) {
  if (state === 'down') return '<polygon class="mark" points="' + [x - 6, y + 4, x + 6, y + 4, x, y - 6].join(' ') + '"/>';
  if (state === 'plain') return '<rect class="mark" x="' + (x - 5) + '" y="' + (y - 5) + '" width="10" height="10" rx="2"/>';
  return '<circle class="mark" cx="' + x + '" cy="' + y + '" r="' + (state === 'up' ? 5.5 : 4) + '"/>';
}

function figuresOf(all) {
  const servers = [];
  for (const group of all['server-group'] || []) servers.push(...((group.contains && group.contains.server) || []));
  for (const service of all.service || []) servers.push(...((service.contains && service.contains.endpoint) || []));
  const listeners = LISTENERS.flatMap((type) => all[type] || []);
  const down = servers.filter((server) => server.health === 'down').length;
  const open = listeners.reduce((sum, one) => sum + (Number(one.connections) || 0), 0);
  return [
    { value: listeners.length, label: 'listeners' },
    { value: amount(open), label: 'open connections' },
    { value: (all['server-group'] || []).length, label: 'server groups' },
    { value: servers.length - down + ' of ' + servers.length, label: 'servers not down', bad: down > 0 },
  ];
}
`;
