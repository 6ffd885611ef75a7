// The shell of the page: credential, routes, the head, what is common to all views.

import { h, replace, say } from './dom.js';
import { Failure, forget, get, setToken, token } from './api.js';
import { failure, skeleton } from './parts.js';
import { discover, list, results, start } from './lists.js';
import { title } from './titles.js';
import { explorer } from './splice.js';
import { about } from './release.js';
import { searchField } from './search.js';
import { pickLanguage, tools } from './tools.js';

const main = document.getElementById('main');
const progress = document.getElementById('progress');
const places = new Map(); // by history entry: how far it was scrolled
let shown = 0; // number of the view that was asked for last
let entry = history.state?.entry ?? 0;

const LINKS = [['#/', 'Start'], ['#/list/movie/popular', 'Lists'], ['#/discover/movie', 'Discover'], ['#/splice', 'Splice'], ['#/release', 'Release'], ['page/reference', 'Reference']];

/** takeToken moves a token from the address to the session's storage, so that no history keeps it. */
function takeToken() {
  const found = /^#token=(.+)$/.exec(location.hash);
  if (!found) return;
  setToken(decodeURIComponent(found[1]));
  forget();
  history.replaceState(history.state, '', '#/');
}

function route() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const parts = path.split('/').filter(Boolean).map(decodeURIComponent);
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
  shell();
  main.setAttribute('aria-busy', 'true');
  progress.hidden = false;
  const slow = setTimeout(() => { if (mine === shown) { replace(main, skeleton()); scrollTo(0, 0); } }, 400);
  let made;
  try {
    made = await viewOf(route());
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
  finish(made.title);
  scrollTo(0, restore ?? 0);
}

function finish(name) {
  main.removeAttribute('aria-busy');
  progress.hidden = true;
  document.title = `${name} · reelsplice`;
  main.querySelector('h1')?.focus({ preventScroll: true });
}

/** shell draws the head, once a token. */
function shell() {
  const links = document.getElementById('links');
  const at = `#/${route().name}`;
  if (!links.firstChild) {
    replace(links, h('ul', { role: 'list' }, LINKS.map(([href, label]) => h('li', null, h('a', { href }, label)))));
    replace(document.getElementById('find'), searchField());
    replace(document.getElementById('tools'), tools(changeLanguage),
      h('button.button', { type: 'button', id: 'leave', onclick: () => { setToken(''); forget(); draw(); say('The token is forgotten.'); } }, 'Forget token'));
  }
  for (const link of links.querySelectorAll('a')) {
    const own = link.getAttribute('href').split('/').slice(0, 2).join('/');
    if (own === at) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

function changeLanguage(code) {
  pickLanguage(code);
  draw({ restore: scrollY });
}

/** entrance asks for a token. problem says why the last one was refused. */
function entrance(problem) {
  for (const id of ['links', 'find', 'tools']) replace(document.getElementById(id));
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
          await get('/3/configuration');
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

const connection = () => { document.getElementById('offline').hidden = navigator.onLine; };
addEventListener('online', connection);
addEventListener('offline', connection);

connection();
takeToken();
history.replaceState({ entry }, '');
draw();
