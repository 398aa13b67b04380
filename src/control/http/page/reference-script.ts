/**
 * The part of the page's script that writes the reference of the API from its OpenAPI document:
 * plain functions that give HTML, to be tried without a browser.
 */
export const REFERENCE_SCRIPT: string = String.raw`
const VERBS = ['get', 'post', 'put', 'delete'];

function resolveRef(doc, value) {
  if (!value || !value.$ref) return value || {};
  return value.$ref.slice(2).split('/').reduce((at, key) => at[key], doc);
}

/** Operations by their tags, in the order of the document. */
function operationsOf(doc) {
  const groups = new Map((doc.tags || []).map((tag) => [tag.name, { tag: tag, operations: [] }]));
  for (const [path, methods] of Object.entries(doc.paths)) {
    for (const verb of VERBS) {
      const operation = methods[verb];
      if (operation) groups.get(operation.tags[0]).operations.push({ verb: verb, path: path, operation: operation });
    }
  }
  return [...groups.values()].filter((group) => group.operations.length > 0);
}

function referenceHtml(doc) {
  const groups = operationsOf(doc);
  const shelf = groups.map((group) => '<a href="#tag-' + group.tag.name + '">' + escapeText(group.tag.name) + '</a>');
  const sections = groups.map((group) =>
    '<section><h2 id="tag-' + group.tag.name + '">' + escapeText(group.tag.name) +
    '<small>' + escapeText(group.tag.description || '') + '</small></h2>' +
    group.operations.map((one) => operationHtml(doc, one)).join('') + '</section>');
  return '<div class="shelf">' + shelf.join('') + '</div>' + sections.join('');
}

function operationHtml(doc, one) {
  const path = escapeText(one.path).replace(/\{[^}]+\}/g, (name) => '<i>' + name + '</i>');
  return '<details class="operation" data-verb="' + one.verb + '" data-path="' + escapeText(one.path) + '">' +
    '<summary><span class="verb ' + one.verb + '">' + one.verb.toUpperCase() + '</span>' +
    '<span class="path">' + path + '</span><span class="summary">' + escapeText(one.operation.summary || '') + '</span></summary>' +
    '<div class="inside"></div></details>';
}

/** What an operation shows when it is opened. */
function insideHtml(doc, operation) {
  const description = (operation.description || '').split('\n\n').map(paragraphHtml).join('');
  return description + fieldsHtml(doc, operation) + tryHtml(doc, operation);
}

function paragraphHtml(text) {
  if (text === '') return '';
  if (text.startsWith('    ')) return '<pre>' + escapeText(text.replace(/^ {4}/gm, '')) + '</pre>';
  return '<p class="lead">' + escapeText(text) + '</p>';
}

function bodySchemaOf(doc, operation) {
  const content = operation.requestBody && operation.requestBody.content['application/json'];
  return content ? resolveRef(doc, content.schema) : undefined;
}

function fieldsHtml(doc, operation) {
  const schema = bodySchemaOf(doc, operation);
  if (schema === undefined) return '';
  const rows = Object.entries(schema.properties || {}).map(([field, of]) =>
    '<tr><td><code>' + escapeText(field) + '</code> ' + ((schema.required || []).includes(field) ? '<span class="need">needed</span>' : '') +
    '</td><td>' + escapeText(typeText(of)) + '</td><td>' + escapeText(of.description || '') + '</td></tr>');
  return '<table><thead><tr><th>Field</th><th>Type</th><th></th></tr></thead><tbody>' + rows.join('') + '</tbody></table>';
}

function typeText(schema) {
  if (schema.enum) return schema.enum.join(' | ');
  if (schema.type === 'array') return 'list of ' + typeText(schema.items || {});
  if (schema.type === 'object') return 'object of texts';
  if (schema.type === 'integer') return schema.minimum + ' to ' + schema.maximum;
  return schema.type === 'string' ? 'text' : schema.type || '';
}

function parametersOf(doc, operation) {
  return (operation.parameters || []).map((one) => resolveRef(doc, one));
}

function tryHtml(doc, operation) {
  const inputs = parametersOf(doc, operation).map((one) =>
    one.schema.type === 'boolean'
      ? '<label class="box"><input type="checkbox" data-in="query" name="' + escapeText(one.name) + '"> ' + escapeText(one.name + ': ' + one.description) + '</label>'
      : '<label>' + escapeText(one.name) + '<input data-in="' + one.in + '" name="' + escapeText(one.name) + '" autocomplete="off"></label>');
  const schema = bodySchemaOf(doc, operation);
  const body = schema === undefined ? '' : '<textarea aria-label="Body" spellcheck="false">' + escapeText(JSON.stringify(sampleOf(schema), undefined, 2)) + '</textarea>';
  return '<form class="try">' + inputs.join('') + body + '<div><button>Send</button></div><pre class="call"></pre><pre class="outcome" aria-live="polite"></pre></form>';
}

/** A body to begin with: what is needed. */
function sampleOf(schema) {
  const sample = {};
  for (const field of schema.required || []) {
    const of = schema.properties[field] || {};
    if (of.type === 'array') sample[field] = [];
    else if (of.type === 'integer') sample[field] = of.minimum;
    else if (of.type === 'object') sample[field] = {};
    else sample[field] = of.enum ? of.enum[0] : '';
  }
  return sample;
}

/** The request that a filled form stands for. */
function requestOf(verb, path, fields, body) {
  const headers = {};
  const query = new URLSearchParams();
  let url = path;
  for (const field of fields) {
    if (field.in === 'path') url = url.replace('{' + field.name + '}', encodeURIComponent(field.value));
    else if (field.in === 'query' && field.value) query.set(field.name, String(field.value));
    else if (field.in === 'header' && field.value) headers[field.name.toLowerCase()] = field.value;
  }
  if (body !== undefined) headers['content-type'] = 'application/json';
  const tail = query.toString();
  return { method: verb.toUpperCase(), url: url + (tail ? '?' + tail : ''), headers: headers, body: body };
}

function quoteShell(text) {
  return "'" + String(text).replace(/'/g, "'\\''") + "'";
}

/** The same request for a terminal; the token stays out of it. */
function curlOf(request, origin, hasToken) {
  const parts = ['curl'];
  if (request.method !== 'GET') parts.push('-X ' + request.method);
  if (hasToken) parts.push('-H "authorization: Bearer $TOKEN"');
  for (const name of Object.keys(request.headers)) parts.push('-H ' + quoteShell(name + ': ' + request.headers[name]));
  if (request.body !== undefined) parts.push('-d ' + quoteShell(request.body));
  return parts.concat(quoteShell(origin + request.url)).join(' ');
}
`;
