// The shell of the page: credential, routes, the head, what is common to all views.

import { h, replace, say } from './dom.js';
import { configuration, Failure, forget, setToken, token } from './api.js';
import { failure, skeleton } from './parts.js';
import { discover, list, results, start } from './lists.js';
import { title } from './titles.js';
import { explorer } from './splice.js';
import { about } from './release.js';
import { reference } from './reference.js';
import { searchField } from './search.js';
import { drawLinks, languagePicker, menu, pickLanguage, themePicker } from './tools.js';

const main = document.getElementById('main');
const progress = document.getElementById('progress');
const leave = document.getElementById('leave');
const places = new Map(); // by history entry: how far it was scrolled
let shown = 0; // number of the view that was asked for last
let entry = history.state?.entry ?? 0;

/** takeToken moves a token from the address to the session's storage, so that no history keeps it. */
function takeToken() {
  const found = /^#token=(.+)$/.exec(location.hash);
  if (!found) return;
  history.replaceState(history.state, '', '#/');
  setToken(decoded(found[1]));
  forget();
}

/** decoded resolves escapes. Text with a malformed one stays as it is. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function route() {
  const [, path, query] = /^#?\/?([^?]*)\??(.*)$/s.exec(location.hash);
  const parts = path.split('/').filter(Boolean).map(decoded);
  return { name: parts[0] ?? '', parts: parts.slice(1), query: new URLSearchParams(query) };
}

function viewOf({ name, parts, query }) {
  switch (name) {
    case '': return start();
    case 'list': return list(parts, query);
    case 'discover': return discover(parts, query);
    case 'search': return results(parts, query);
    case 'splice': return explorer(parts, query);
    case 'release': return about();
    case 'reference': return reference(parts, query);
    case 'movie': case 'person': case 'collection':
      if (/^\d+$/.test(parts[0] ?? '')) return title(name, parts);
      break;
    case 'tv':
      if (/^\d+(\/season\/\d+(\/episode\/\d+)?)?$/.test(parts.join('/'))) return title(name, parts);
      break;
  }
  throw new Failure(404, 0, 'This page has no such view.', '');
}

/** draw shows the view of the address. Views that were overtaken by a later one are dropped. */
async function draw({ restore } = {}) {
  const mine = ++shown;
  if (!token()) {
    entrance('');
    return;
  }
  const focused = document.activeElement?.id; // the skeleton may take its place
  main.setAttribute('aria-busy', 'true');
  progress.hidden = false;
  const slow = setTimeout(() => { if (mine === shown) { replace(main, skeleton()); scrollTo(0, 0); } }, 400);
  let made;
  try {
    shell();
    [made] = await Promise.all([viewOf(route()), configuration()]); // the reference reads only what needs no token
  } catch (err) {
    if (mine !== shown) return;
    if (err.status === 401) {
      clearTimeout(slow);
      entrance(err.message);
      return;
    }
    if (!(err instanceof Failure)) console.error(err);
    made = { title: 'Error', view: failure(err, () => draw()) };
  } finally {
    clearTimeout(slow);
  }
  if (mine !== shown) return;
  replace(main, made.view);
  finish(made.title, focused);
  scrollTo(0, restore ?? 0);
}

/**
 * finish ends the drawing of a view. The focus goes to the element of the view with the id focused, such as
 * a filter that was changed, or to the heading. A control of the head keeps it.
 */
function finish(name, focused) {
  main.removeAttribute('aria-busy');
  progress.hidden = true;
  document.title = `${name} · reelsplice`;
  // The first view leaves the focus at the start of the document, where the skip link is.
  if (shown === 1 || document.activeElement?.matches('header :is(input, select)')) return;
  const again = focused && main.querySelector(`#${CSS.escape(focused)}`);
  (again || main.querySelector('h1'))?.focus({ preventScroll: true });
}

/** shell draws the head, once a token. */
function shell() {
  const { name, query } = route();
  drawLinks(name);
  if (leave.hidden) {
    replace(document.getElementById('find'), searchField());
    replace(document.getElementById('tools'), languagePicker(changeLanguage), themePicker());
    leave.hidden = document.getElementById('menu').hidden = false;
  }
  const field = document.getElementById('search');
  if (field !== document.activeElement) field.value = name === 'search' ? query.get('q') ?? '' : '';
}

function changeLanguage(code) {
  pickLanguage(code);
  draw({ restore: scrollY });
}

/** entrance asks for a token. problem says why the last one was refused. */
function entrance(problem) {
  for (const id of ['links', 'find', 'tools']) replace(document.getElementById(id));
  leave.hidden = document.getElementById('menu').hidden = true;
  const field = h('input', { id: 'token', type: 'password', autocomplete: 'off', spellcheck: 'false', required: true, 'aria-describedby': problem ? 'token-hint token-problem' : 'token-hint', 'aria-invalid': problem ? 'true' : null });
  const alert = h('p.problem', { id: 'token-problem', role: 'alert' }, problem);
  const button = h('button.button.strong', { type: 'submit' }, 'Open');
  replace(main, h('div.entrance', null,
    h('h1', { tabindex: -1 }, 'Open this database'),
    h('p', null, 'The API asks each client for a token. This page is a client like any other.'),
    h('form', {
      onsubmit: async (event) => {
        event.preventDefault();
        button.disabled = true;
        setToken(field.value.trim());
        forget();
        try {
          await configuration();
          draw();
        } catch (err) {
          setToken('');
          button.disabled = false;
          field.setAttribute('aria-invalid', 'true');
          field.setAttribute('aria-describedby', 'token-hint token-problem');
          alert.textContent = err.message;
          field.focus();
        }
      },
    }, h('label', { for: 'token' }, 'Token'), h('div.request-line', null, field, button), alert,
    h('p.quiet', { id: 'token-hint' }, 'reelsplice up prints a token and a link with it. reelsplice token issue makes another. The token stays in this tab.'))));
  if (problem) setToken('');
  finish('Token');
  field.focus();
}

// A language among the facts of a title is a button.
main.addEventListener('click', (event) => {
  const code = event.target.closest('[data-language]')?.dataset.language;
  if (code) changeLanguage(code);
});
leave.addEventListener('click', () => {
  setToken('');
  forget();
  draw();
  say('Signed out.');
});
document.getElementById('skip').addEventListener('click', (event) => {
  event.preventDefault(); // the hash is the route
  main.focus();
});

// Back and forward restore how far an entry was scrolled.
history.scrollRestoration = 'manual';
addEventListener('scroll', () => places.set(entry, scrollY), { passive: true });
addEventListener('popstate', (event) => {
  takeToken();
  const known = event.state?.entry;
  entry = known ?? Math.max(entry, ...places.keys(), 0) + 1;
  if (known === undefined) history.replaceState({ entry }, '');
  draw({ restore: known === undefined ? 0 : places.get(known) });
});

menu();
takeToken();
history.replaceState({ entry }, '');
draw();
