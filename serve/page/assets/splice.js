// The splice made visible: a request, its parts as a strip of film, and what it costs.

import { add, h, replace, say } from './dom.js';
import { failureOf, get, language, read, send, token, url, withQuery } from './api.js';
import { bytes, count, number, region, language as languageName } from './format.js';
import { NAMESPACES, namespaceOf } from './namespaces.js';
import { languageOptions } from './tools.js';
import { snippets } from './snippets.js';

/** explain returns the pieces of a response. */
const explain = (path, options) => get(withQuery('/page/explain', { path }), options);

/**
 * partsOf prepares the pieces of an explanation for drawing. The frame is what gzip adds around them;
 * null if the edge compressed the response as one, as it does with pages of lists.
 */
export function partsOf(told) {
  const pieces = told.pieces ?? [];
  const stored = pieces.reduce((n, p) => n + p.stored_bytes, 0);
  const frame = told.gzip_bytes - stored;
  const spliced = told.class !== 'page';
  let literals = 0;
  let segments = 0;
  const parts = pieces.map((p) => ({ ...p, label: p.kind === 'literal' ? `s${++literals}` : String(++segments), width: spliced ? p.stored_bytes : p.raw_bytes }));
  return { parts, frame: spliced && frame > 0 ? frame : null, spliced, literals };
}

const nameOfPart = (p) => (p.kind === 'literal' ? 'splice' : p.sub || { static: 'fixed response', made: 'derived rows' }[p.kind] || 'part');

/** filmstrip draws the parts. A part's width is its share of the bytes, its number is its row in the table. */
function filmstrip({ parts, frame }) {
  let tone = -1;
  let before = null;
  return h('div.film', { role: 'img', 'aria-label': `${count(parts.length, 'part')}: ${parts.filter((p) => p.kind !== 'literal').map((p) => `${nameOfPart(p)} ${bytes(p.width)}`).join(', ')}` },
    parts.map((p) => {
      if (p.kind !== 'literal' && p.sub !== before) tone++;
      if (p.kind !== 'literal') before = p.sub;
      return h(`span.frame.${p.kind}.shade-${p.kind === 'literal' ? 'none' : tone % 4}`, { '--bytes': p.width, 'data-part': p.label, title: `${p.label}: ${nameOfPart(p)}, ${bytes(p.width)}` },
        h('span.frame-label', null, p.label, p.kind !== 'literal' && h('span.frame-name', null, ` ${nameOfPart(p)}`)));
    }),
    frame !== null && h('span.frame.wrapper', { '--bytes': frame, 'data-part': 'gzip', title: `gzip: header and trailer, ${bytes(frame)}` }));
}

const figures = (told) => [
  h('span', null, h('b', null, bytes(told.gzip_bytes)), ' gzip'), h('span', null, h('b', null, bytes(told.raw_bytes)), ' raw'),
  h('span', null, h('b', null, `${(told.raw_bytes / told.gzip_bytes).toFixed(1)}×`), ' smaller')];

/** spliceBrief is a title page's own response as a strip, with a link to take it apart. */
export function spliceBrief(request) {
  const body = h('div.brief-body', { 'aria-busy': 'true' });
  const box = h('details.brief', { open: !matchMedia('(max-width: 40rem)').matches }, h('summary', null, 'The response of this page'), body);
  explain(request).then((told) => {
    const drawn = partsOf(told);
    replace(body,
      h('p.brief-text', null, h('span', null, 'This page is one response of ', h('b', null, count(drawn.parts.length, 'part'))), figures(told), h('a', { href: splicePath(request) }, 'Take it apart')),
      filmstrip(drawn),
      h('p.quiet.small', null, 'Each frame is a part that was compressed once, as wide as its bytes. ', h('span.swatch.literal'), ' Splices of literal bytes join them.'));
  }).catch((err) => {
    replace(body, h('p.brief-text', null, h('span.quiet', null, `The parts of this response are not available: ${err.message}`), h('a', { href: splicePath(request) }, 'Send it again')));
  }).finally(() => body.removeAttribute('aria-busy'));
  return box;
}

export const splicePath = (request) => `#/splice?path=${encodeURIComponent(request)}`;

/**
 * split takes a request apart: path, appended names, language and the other parameters. It is a path of the API,
 * or the whole address of one at this server; null for any other text.
 */
function split(text) {
  const base = url('').href;
  const request = text.trim().replace(/#.*/s, '');
  const [, path, query] = /^([^?]*)\??(.*)$/s.exec(request.startsWith(base) ? `/${request.slice(base.length)}` : request);
  if (!/^\/[34]\//.test(path)) return null;
  const all = new URLSearchParams(query);
  const appended = (all.get('append_to_response') ?? '').split(',').map((name) => name.trim()).filter(Boolean);
  const chosen = all.get('language') ?? '';
  all.delete('append_to_response');
  all.delete('language');
  return { path, appended, language: chosen, others: Object.fromEntries(all) };
}
const join = (r) => withQuery(r.path, { ...r.others, append_to_response: r.appended.join(','), language: r.language });

/** examples are requests for what the release has, the most popular first. */
async function examples() {
  const [[movie], [series], [person]] = await Promise.all(['movie', 'tv', 'person'].map((kind) => get(`/3/${kind}/popular`).then((list) => list.results, () => [])));
  const season = series && (await get(`/3/tv/${series.id}`)).seasons.at(-1);
  const [word] = (movie?.title ?? series?.name ?? '').split(/[^\p{L}\p{N}]+/u).sort((a, b) => b.length - a.length);
  return [movie && `/3/movie/${movie.id}`, series && `/3/tv/${series.id}`, season && `/3/tv/${series.id}/season/${season.season_number}`, person && `/3/person/${person.id}`,
    word && withQuery('/3/search/multi', { query: word }), '/3/configuration'].filter(Boolean);
}

/** explorer is the view at #/splice. */
export async function explorer(parts, query) {
  const known = await examples();
  const example = withQuery(known[0], { append_to_response: namespaceOf(known[0]) ? 'credits,videos,images' : '', language: language() });
  const given = query.get('path') ?? example;
  let request = split(given) ?? split(example);
  let running = null;

  const field = h('input', { id: 'splice-path', type: 'text', spellcheck: 'false', autocomplete: 'off', 'aria-describedby': 'splice-hint' });
  const ticks = h('div.ticks');
  const picker = h('select', { id: 'splice-language', onchange: () => { request.language = picker.value; asked(); } });
  const result = h('div.splice-result', { 'aria-live': 'off' });
  const view = h('div.splice', null,
    h('h1', { tabindex: -1 }, 'The splice'),
    h('p.lead-text', null, 'Nothing is compressed per request. The server joins parts that were compressed once, byte by byte, into one response. Pick a request and see its parts.'),
    h('form.request', { onsubmit: (event) => { event.preventDefault(); take(field.value); } },
      h('label', { for: 'splice-path' }, 'Request'),
      h('div.request-line', null, h('span.method', { 'aria-hidden': 'true' }, 'GET'), field, h('button.button.strong', { type: 'submit' }, 'Send')),
      h('p.quiet.small', { id: 'splice-hint' }, 'For example: ', commasOf(known.map((path) => h('button.link', { type: 'button', onclick: () => { request = { ...split(path), language: request.language }; asked(); } }, path))))),
    h('div.choices', null, ticks, h('div', null, h('label', { for: 'splice-language' }, 'Language'), picker)),
    result);
  languageOptions(picker, () => request.language, true);

  function names() {
    const space = namespaceOf(request.path);
    const known = [...(NAMESPACES[space] ?? [])];
    if (space === 'tv') known.push('season/1', 'season/2', 'season/3');
    for (const name of request.appended) if (!known.includes(name)) known.push(name);
    return known;
  }
  function drawTicks() {
    const known = names();
    replace(ticks, h('fieldset', null,
      h('legend', null, 'Append to the response', h('span.quiet', null, known.length ? ` ${request.appended.length} of at most 20` : '')),
      known.length === 0 ? h('p.none', null, 'Nothing can be appended to this response.') : h('div.tick-grid', null, known.map((name) => h('label.tick', null, h('input', {
        type: 'checkbox', name: 'sub', value: name, checked: request.appended.includes(name),
        onchange: (event) => {
          request.appended = request.appended.filter((other) => other !== name);
          if (event.target.checked) request.appended.push(name);
          asked({ keepTicks: true });
        },
      }), h('span', null, name)))),
      known.length > 0 && h('button.link.small', { type: 'button', onclick: () => { request.appended = []; asked(); } }, 'Clear')));
  }

  /** take asks for a request that was written, in the field or in the address of the page. */
  async function take(text) {
    const taken = split(text);
    if (taken) {
      request = taken;
      return asked();
    }
    running?.abort();
    field.value = text;
    drawTicks();
    result.removeAttribute('aria-busy');
    replace(result, refused('Not a request', `A request is a path that begins with /3/ or /4/, alone or behind ${url('').href.slice(0, -1)}.`));
  }

  /** asked shows the request and asks for it. */
  async function asked(how) {
    field.value = join(request);
    picker.value = request.language;
    history.replaceState(history.state, '', splicePath(join(request)));
    if (!how?.keepTicks) drawTicks();
    else ticks.querySelector('legend .quiet').textContent = ` ${request.appended.length} of at most 20`;
    running?.abort();
    running = new AbortController();
    const { signal } = running;
    const path = join(request);
    result.setAttribute('aria-busy', 'true');
    try {
      const [first, told] = await Promise.all([ask(path, { signal }), explain(path, { signal }).catch((err) => { if (err.name === 'AbortError') throw err; return err; })]);
      if (signal.aborted) return;
      replace(result, shown(path, first, told));
      say(first.status === 200 ? `Response of ${bytes(first.sent)}` : `Status ${first.status}`);
    } catch (err) {
      if (err.name === 'AbortError' || signal.aborted) return;
      replace(result, refused(err.status ? `Status ${err.status}` : 'No response', err.message, err.code));
      say(err.message);
    }
    result.removeAttribute('aria-busy');
  }
  await take(given);
  return { title: 'The splice', view };
}

const commasOf = (nodes) => nodes.flatMap((node, i) => (i ? [' ', node] : [node]));
const refused = (title, message, code) => h('div.refused', { role: 'alert' }, h('h2', null, title), h('p', null, message), code ? h('p.quiet', null, `Code ${code} of the API`) : null);

/** ask measures one request. The browser's cache stays out of it. */
async function ask(path, { signal, tag } = {}) {
  const begun = performance.now();
  const response = await send(path, { signal, cache: 'no-store', headers: tag ? { 'If-None-Match': tag } : {} });
  if (response.status >= 400) throw await failureOf(response, path);
  const body = new Uint8Array(await read(response, path, 'arrayBuffer'));
  const took = performance.now() - begun;
  const length = response.headers.get('Content-Length');
  return {
    status: response.status, took, body, tag: response.headers.get('ETag') ?? '', release: response.headers.get('X-Reelsplice-Release') ?? '',
    sent: response.status === 304 ? 0 : length === null ? body.length : Number(length),
  };
}

/** shown is a response with all that is known about it. */
function shown(path, first, told) {
  const explained = !(told instanceof Error);
  const log = h('tbody');
  let asks = 0;
  const note = (answer) => {
    log.append(h('tr', { 'data-status': answer.status }, h('td.n', null, ++asks), h('td', null, answer.status === 304 ? '304 Not Modified' : `${answer.status} OK`), h('td.n', null, bytes(answer.sent)), h('td.n', null, `${answer.took.toFixed(1)} ms`)));
  };
  note(first);
  const again = h('button.button', {
    type: 'button', id: 'ask-again',
    onclick: async () => {
      try {
        const answer = await ask(path, { tag: first.tag });
        note(answer);
        while (log.children.length > 6) log.children[1].remove();
        say(`Status ${answer.status}, ${bytes(answer.sent)}, ${answer.took.toFixed(1)} milliseconds`);
      } catch (err) {
        say(err.message);
        log.append(h('tr', null, h('td.n', null, ''), h('td', { colspan: 3 }, err.message)));
      }
    },
  }, 'Send again');
  return [
    explained ? pieces(path, first, told) : h('p.none', null, `The parts are not available: ${told.message}`),
    h('div.two', null,
      h('section.section', { 'aria-labelledby': 'asked-title' }, h('h2', { id: 'asked-title' }, 'Send again'),
        h('p', null, 'A client that keeps the ETag is told in a few bytes that nothing changed.'),
        h('p', null, 'ETag ', h('code', null, first.tag || 'none'), first.release && [' · release ', h('code', null, first.release)]),
        h('table', { id: 'asked' }, h('caption.unseen', null, 'Requests and their responses'),
          h('thead', null, h('tr', null, ['Request', 'Status', 'Body', 'Time'].map((name, i) => h(i === 1 ? 'th' : 'th.n', { scope: 'col' }, name)))), log),
        h('p', null, again, h('code.small', null, ` If-None-Match: ${first.tag}`))),
      h('section.section', { 'aria-labelledby': 'copy-title' }, h('h2', { id: 'copy-title' }, 'Use it'), copies(path)))];
}

function pieces(path, first, told) {
  const drawn = partsOf(told);
  const { parts, frame, spliced, literals } = drawn;
  if (!parts.length) return h('p.none', null, 'This response has no parts.');
  const film = filmstrip(drawn);
  const excerpt = h('pre.excerpt', { tabindex: 0, role: 'region', 'aria-label': 'Bytes of the picked part' });
  const rows = h('tbody');
  let base = 0;
  const pick = (p, row) => {
    for (const other of rows.querySelectorAll('button')) other.setAttribute('aria-pressed', String(row.contains(other)));
    for (const other of film.children) other.classList.toggle('picked', other.dataset.part === p.label);
    const end = Math.min(p.offset + p.raw_bytes, p.offset + 600);
    excerpt.textContent = new TextDecoder().decode(first.body.subarray(p.offset, end)) + (p.raw_bytes > 600 ? ' …' : '');
  };
  for (const p of parts) {
    const row = h('tr', { 'data-part': p.label, onmouseenter: () => film.querySelector(`[data-part="${p.label}"]`)?.classList.add('hover'), onmouseleave: () => film.querySelector(`[data-part="${p.label}"]`)?.classList.remove('hover') },
      h('td', null, h('button.part', { type: 'button', 'aria-pressed': 'false', 'aria-label': `Part ${p.label}: ${nameOfPart(p)}`, onclick: () => pick(p, row) }, p.label)),
      h('th', { scope: 'row' }, nameOfPart(p)),
      h('td.n', null, number(p.raw_bytes)), h('td.n', null, spliced ? number(p.stored_bytes) : '–'),
      p.kind === 'literal' ? h('td.literal-text', { colspan: 3 }, h('code', null, p.text ?? '')) : [
        h('td', null, p.resource ?? '', p.fragment && p.fragment !== p.sub ? h('span.quiet', null, `, ${USES[p.fragment] ?? p.fragment}`) : ''), h('td', null, p.language ? h('span', { title: named(p.language) }, p.language) : h('span.quiet', null, 'any')),
        h('td.file', null, p.file ? [h('code', null, short(p.file)), h('span.quiet', null, ` @ ${number(p.file_offset ?? 0)}`)] : '')]);
    rows.append(row);
    base += p.stored_bytes;
  }
  if (frame !== null) {
    rows.append(h('tr', { 'data-part': 'gzip' }, h('td'), h('th', { scope: 'row' }, 'gzip frame'), h('td.n', null, '0'), h('td.n', null, number(frame)), h('td.quiet', { colspan: 3 }, 'header, final block and trailer')));
  }
  const sum = spliced ? base + (frame ?? 0) : told.gzip_bytes;
  const pickFrom = (event) => {
    const label = event.target.closest('[data-part]')?.dataset.part;
    const at = parts.findIndex((p) => p.label === label);
    if (at >= 0) pick(parts[at], rows.children[at]);
  };
  film.addEventListener('click', pickFrom);
  pick(parts[0], rows.children[0]);
  return h('section.section', { 'aria-labelledby': 'parts-title' },
    h('div.section-head', null, h('h2', { id: 'parts-title' }, count(parts.length, 'part')), h('p.figures', null, figures(told), h('span', null, h('b', null, `${first.took.toFixed(1)} ms`), ' in this browser'))),
    film,
    h('p.quiet.small', null, spliced ? `${sources(parts)}${count(literals, 'splice')} of literal bytes between them. Widths are bytes sent.` :
      'The edge compresses pages of rows as one, once, and keeps them. Widths are bytes before compression.'),
    h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': 'Table of parts' }, h('table.parts', { id: 'parts' }, h('caption.unseen', null, `Parts of ${path}`),
      h('thead', null, h('tr', null, [['Part'], ['What'], ['Raw bytes', 1], ['Sent bytes', 1], ['Resource'], ['Language'], ['File and offset']].map(([name, right]) => h(right ? 'th.n' : 'th', { scope: 'col' }, name)))),
      rows,
      h('tfoot', null, h('tr', null, h('td'), h('th', { scope: 'row' }, 'Sum'), h('td.n', { id: 'sum-raw' }, number(told.raw_bytes)), h('td.n', { id: 'sum-sent' }, number(sum)),
        h('td', { colspan: 3, id: 'sum-check' }, sum === first.sent ? `✓ equals Content-Length ${number(first.sent)}` : `Content-Length ${number(first.sent)}`))))),
    h('h3', null, 'Bytes of a part'), h('p.quiet.small', null, 'Pick a part in the strip or the table to read its bytes.'), excerpt);
}

const USES = { row: 'in a list', media_row: 'in a list', known_for: 'known for', merged_into: 'now another id' };

/** sources says how many parts are stored and how many were made. */
function sources(parts) {
  const n = (kind) => parts.filter((p) => p.kind === kind).length;
  return [n('segment') && `${count(n('segment'), 'part')} as stored in the release, `, n('made') && `${count(n('made'), 'part')} made for this request, `, n('static') && `${count(n('static'), 'fixed response')} of the program, `].filter(Boolean).join('');
}

const short = (file) => (file.length > 16 ? `${file.slice(0, 14)}…` : file);
const named = (code) => {
  const [base, place] = code.split('-');
  return place ? `${languageName(base)}, ${region(place)}` : languageName(base);
};

/** copies are the request as a program, with a button to copy each. */
function copies(path) {
  const made = snippets(url(path).href, token());
  const hidden = snippets(url(path).href, 'TOKEN');
  const code = h('pre.excerpt', { tabindex: 0, role: 'region', 'aria-label': 'The request as a program' }, hidden.curl);
  const note = h('p.copied', { role: 'status' });
  return [
    h('p', null, 'The copy has your token in it; the text here does not.'),
    h('div.copies', null, Object.entries({ curl: 'curl', javascript: 'JavaScript', python: 'Python', go: 'Go' }).map(([key, label]) => h('button.button', {
      type: 'button', 'data-copy': key,
      onclick: async () => {
        code.textContent = hidden[key];
        note.textContent = await copied(made[key]) ? `Copied as ${label}.` : 'This browser does not let pages copy. Copy the text below, and write your token for TOKEN.';
      },
    }, `Copy as ${label}`))), note, code];
}

/** copied copies text and reports whether it could. Over plain HTTP browsers have the old way alone. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { /* the old way */ }
  const focused = document.activeElement;
  const area = h('textarea.unseen', { 'aria-hidden': 'true', readonly: true });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  focused.focus({ preventScroll: true });
  return done;
}
