// The search field: a combobox that asks as one types.

import { h, replace, say } from './dom.js';
import { configuration } from './api.js';
import { find } from './find.js';
import { addressOf, kindName, kindOf, nameOf, picture, reasons, yearOf } from './parts.js';
import { count } from './format.js';

const WAIT = 120; // milliseconds without a key before a request
const SHOWN = 8;

/** searchField returns the field. Up, Down, Enter and Escape work as in any combobox. */
export function searchField() {
  let timer = 0;
  let request = null;
  let rows = [];
  let active = -1;

  const listbox = h('ul.options', { id: 'options', role: 'listbox', 'aria-label': 'Titles and people', hidden: true });
  const input = h('input', {
    id: 'search', type: 'search', role: 'combobox', autocomplete: 'off', spellcheck: 'false', placeholder: 'Title, person or id',
    'aria-label': 'Search movies, series and people', 'aria-expanded': 'false', 'aria-controls': 'options', 'aria-autocomplete': 'list', 'aria-keyshortcuts': '/',
    oninput: later, onkeydown: key, onblur: reset, onfocus: later,
  });

  /** reset forgets the rows, and what is asked for. */
  function reset() {
    stop();
    rows = [];
    replace(listbox);
    listbox.hidden = true;
    input.setAttribute('aria-expanded', 'false');
  }

  /** stop ends the request for other words. Its rows stay in sight, none of them picked. */
  function stop() {
    clearTimeout(timer);
    request?.abort();
    listbox.querySelectorAll('.option')[active]?.setAttribute('aria-selected', 'false');
    active = -1;
    input.removeAttribute('aria-activedescendant');
  }

  function later() {
    if (!input.value.trim()) {
      reset();
      return;
    }
    stop();
    timer = setTimeout(ask, WAIT);
  }

  async function ask() {
    const words = input.value.trim();
    request = new AbortController();
    const { signal } = request;
    try {
      const [settings, found] = await Promise.all([configuration(), find(words, { signal })]);
      if (signal.aborted || document.activeElement !== input) return;
      rows = found.results.slice(0, SHOWN);
      show(settings, words, found);
    } catch (err) {
      if (signal.aborted) return;
      reset();
      replace(listbox, remark(err.message));
      open();
      say(err.message);
    }
  }

  /** remark is a line that cannot be picked. */
  const remark = (sentence) => h('li.option-note', { role: 'option', 'aria-disabled': 'true', 'aria-selected': 'false' }, sentence);

  function show(settings, words, found) {
    stop();
    const note = found.near ? `Nothing is called “${words}”. Did you mean:` : rows.length ? '' : `Nothing for “${words}”`;
    replace(listbox, note && remark(note), rows.map((row, i) => h('li.option', {
      id: `option-${i}`, role: 'option', 'aria-selected': 'false', onmousedown: (event) => event.preventDefault(), onclick: () => choose(i),
    },
    picture(settings, { kind: kindOf(row) === 'person' ? 'profile' : 'poster', path: row.poster_path ?? row.profile_path, width: 92, name: nameOf(row) }),
    h('span.option-text', null, h('span.option-name', null, nameOf(row)), h('span.option-note', null, [kindName(kindOf(row)), yearOf(row), ...reasons(row)].filter(Boolean).join(' · '))))));
    open();
    say(note || count(found.total_results, 'result'));
  }

  function mark(to) {
    if (!rows.length) {
      later();
      return;
    }
    listbox.querySelectorAll('.option')[active]?.setAttribute('aria-selected', 'false');
    active = (to + rows.length) % rows.length;
    const option = listbox.querySelectorAll('.option')[active];
    option.setAttribute('aria-selected', 'true');
    option.scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', option.id);
  }

  function key(event) {
    if (event.isComposing) return;
    switch (event.key) {
      case 'ArrowDown': mark(active + 1); break;
      case 'ArrowUp': mark(active < 0 ? rows.length - 1 : active - 1); break;
      case 'Enter': active >= 0 ? choose(active) : all(); break;
      case 'Escape': if (listbox.hidden) input.value = ''; reset(); break;
      default: return;
    }
    event.preventDefault();
  }

  function choose(i) {
    const to = addressOf(rows[i]);
    input.blur(); // the focus goes to the view
    location.hash = to;
  }
  function all() {
    const words = input.value.trim();
    if (!words) return;
    input.blur();
    location.hash = `#/search?q=${encodeURIComponent(words)}`;
  }
  function open() {
    listbox.hidden = false;
    input.setAttribute('aria-expanded', 'true');
  }
  return h('div.combobox', null, input, h('kbd', { 'aria-hidden': 'true' }, '/'), listbox);
}

document.addEventListener('keydown', (event) => {
  const input = document.getElementById('search');
  if (!input || event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || /^(input|textarea|select)$/i.test(document.activeElement?.tagName ?? '')) return;
  event.preventDefault();
  input.focus();
  input.select();
});
