// The API reference: the operations of /openapi.json, found by path, text and parameter, each with its response from this server.

import { h, replace, say } from './dom.js';
import { failureOf, get, read, send, withQuery } from './api.js';
import { none } from './parts.js';
import { bytes, count } from './format.js';
import { splicePath } from './splice.js';

/** FIRST are the groups that most people need. The others follow in the order of the document. */
const FIRST = ['Movies', 'TV Series', 'TV Seasons', 'TV Episodes', 'People', 'Search', 'Discover', 'Movie Lists', 'TV Series Lists', 'Trending', 'Find', 'Collections', 'Genre', 'Configuration'];
const SHOWN = 20000; // characters of a response

/** reference is the view at #/reference, with one operation open at #/reference/ID, filtered by ?q=. */
export async function reference(parts, query) {
  const [document, ids] = await Promise.all([get('/openapi.json'), examples()]);
  const operations = operationsOf(document);
  const groups = [...new Set([...FIRST, ...document.tags.map((tag) => tag.name)])]
    .map((name) => ({ name, list: operations.filter((op) => op.tag === name).map((op) => ({ op, row: row(op, ids) })) }))
    .filter((group) => group.list.length);
  const found = h('p.quiet', { role: 'status' });
  const field = h('input', { id: 'filter', type: 'search', autocomplete: 'off', spellcheck: 'false', placeholder: 'movie, images, /3/search …', value: query.get('q') ?? '', oninput: () => filter(true) });
  const sections = groups.map(({ name, list }) => h('section.section', null, h('h2', null, name), list.map(({ row }) => row)));
  const nothing = none('No operation has all of these words in its path, text or parameters.');

  function filter(typed) {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    groups.forEach(({ list }, i) => {
      for (const { op, row } of list) {
        row.hidden = !words.every((word) => op.text.includes(word));
        if (!row.hidden) shown++;
      }
      sections[i].hidden = list.every(({ row }) => row.hidden);
    });
    nothing.hidden = shown > 0;
    found.textContent = words.length ? `${count(shown, 'operation')} of ${operations.length}` : count(shown, 'operation');
    if (typed) history.replaceState(history.state, '', withQuery('#/reference', { q: field.value }));
  }
  filter();
  const view = h('div.reference', null,
    h('h1', { tabindex: -1 }, 'API reference'),
    h('p.lead-text', null, 'Open an operation to send it to this server with the token of this tab. The whole document is ', h('a', { href: 'openapi.json' }, '/openapi.json'), '.'),
    h('div', null, h('label', { for: 'filter' }, 'Find an operation'), field), found, nothing, sections);
  const open = groups.flatMap((group) => group.list).find(({ op }) => op.id === parts[0]);
  if (open) {
    open.row.open = true;
    requestAnimationFrame(() => open.row.scrollIntoView({ block: 'start' }));
  }
  return { title: open ? open.op.summary : 'API reference', view };
}

/** operationsOf returns the GET operations of an OpenAPI document, with their parameters in place. */
function operationsOf(document) {
  const resolve = (p) => (p.$ref ? document.components.parameters[p.$ref.split('/').pop()] : p);
  return Object.entries(document.paths).flatMap(([path, item]) => {
    const op = item.get;
    if (!op) return [];
    const parameters = [...(item.parameters ?? []), ...(op.parameters ?? [])].map(resolve);
    const text = [path, op.summary, op.tags[0], op.operationId, ...parameters.map((p) => p.name)].join(' ').toLowerCase();
    return [{ id: op.operationId, path, tag: op.tags[0], summary: op.summary, description: op.description, extension: op['x-reelsplice-extension'], parameters, text }];
  });
}

/** examples are ids that the release has, by parameter. Those of the document may be in no small release. */
async function examples() {
  const first = (kind) => get(`/3/${kind}/popular`).then((list) => list.results[0]?.id, () => undefined);
  const [movie, series, person] = await Promise.all(['movie', 'tv', 'person'].map(first));
  const details = movie ? await get(`/3/movie/${movie}?append_to_response=keywords`).catch(() => null) : null;
  return {
    movie_id: movie, series_id: series, person_id: person, collection_id: details?.belongs_to_collection?.id,
    company_id: details?.production_companies?.[0]?.id, keyword_id: details?.keywords?.keywords?.[0]?.id,
    query: details?.title, ids: movie,
  };
}

/** row is an operation, drawn and sent when it is first opened. */
function row(op, ids) {
  const body = h('div.operation-body');
  return h('details.operation', {
    id: `operation-${op.id}`,
    ontoggle: (event) => { if (event.target.open && !body.firstChild) draw(op, ids, body); },
  }, h('summary', null, h('code', null, op.path), h('span', null, op.summary), op.extension && h('span.badge', null, 'extension')), body);
}

function draw(op, ids, body) {
  const fields = op.parameters.map((p) => ({ p, field: h('input', {
    type: 'text', id: `${op.id}-${p.name}`, spellcheck: 'false', autocomplete: 'off', required: Boolean(p.required), placeholder: p.schema?.default ?? (p.schema?.enum ?? []).join(', '),
    value: p.required ? ids[p.name] ?? p.example ?? p.schema?.example ?? p.schema?.enum?.[0] ?? '' : '',
  }) }));
  const result = h('div', { 'aria-live': 'off' });
  /** request is the path with the values, or the name of the first value that is missing. */
  function request() {
    const missing = fields.find(({ p, field }) => p.required && !field.value.trim());
    if (missing) return { missing };
    let path = op.path;
    for (const { p, field } of fields) if (p.in === 'path') path = path.replace(`{${p.name}}`, encodeURIComponent(field.value.trim()));
    return { path: withQuery(path, Object.fromEntries(fields.filter(({ p }) => p.in === 'query').map(({ p, field }) => [p.name, field.value.trim()]))) };
  }
  async function submit(asked) {
    const { path, missing } = request();
    if (missing) {
      if (asked) missing.field.focus();
      replace(result, none(`Give ${missing.p.name} to send this request.`));
      return;
    }
    result.setAttribute('aria-busy', 'true');
    try {
      const response = await send(path);
      if (!response.ok) throw await failureOf(response, path);
      const text = JSON.stringify(await read(response, path, 'json'), null, 2);
      replace(result, h('p', null, h('code', null, path), h('span.quiet', null, ` · status ${response.status}, ${bytes(text.length)} formatted · `), h('a', { href: splicePath(path) }, 'Take it apart')),
        h('pre.excerpt', { tabindex: 0, role: 'region', 'aria-label': 'Response' }, text.length > SHOWN ? `${text.slice(0, SHOWN)}\n…` : text));
      if (asked) say(`Status ${response.status}`);
    } catch (err) {
      replace(result, h('div.refused', { role: 'alert' }, h('p', null, h('code', null, path)), h('p', null, err.message), err.status ? h('p.quiet', null, `Status ${err.status}${err.code ? `, code ${err.code} of the API` : ''}`) : null));
    }
    result.removeAttribute('aria-busy');
  }
  replace(body,
    op.description && h('p', null, plain(op.description)),
    h('form', { onsubmit: (event) => { event.preventDefault(); submit(true); } },
      fields.length > 0 && h('div.scroll', null, h('table.parameters', null, h('caption.unseen', null, `Parameters of ${op.path}`),
        h('thead', null, h('tr', null, ['Parameter', 'Value', 'Meaning'].map((name) => h('th', { scope: 'col' }, name)))),
        h('tbody', null, fields.map(({ p, field }) => h('tr', null,
          h('th', { scope: 'row' }, h('label', { for: field.id }, h('code', null, p.name)), p.required && h('span.quiet', null, ' required')),
          h('td', null, field), h('td', null, plain(p.description ?? ''))))))),
      h('p', null, h('button.button.strong', { type: 'submit' }, 'Send'))),
    result);
  submit(false);
}

/** plain is Markdown of the document without its marks. */
const plain = (text) => text.replace(/[`*]/g, '');
