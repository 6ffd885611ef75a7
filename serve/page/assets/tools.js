// The head: navigation, the language picker, the switch of light and dark.

import { h, keep, kept, replace, say } from './dom.js';
import { get, language, setLanguage } from './api.js';
import { language as languageName } from './format.js';

const THEMES = { '': 'Auto', light: 'Light', dark: 'Dark' };

/** option names a language in short, as a phone's head has no room for its region's name: the code has the region. */
const option = (code) => h('option', { value: code }, `${code} · ${languageName(code.split('-')[0])}`);

/** languageOptions fills a select with all languages that the API lists. picks returns the picked one. */
export function languageOptions(select, picks, withNone) {
  let value = picks();
  select.replaceChildren(withNone ? h('option', { value: '' }, 'Not given') : '', value ? option(value) : '');
  get('/3/configuration/primary_translations').then((all) => {
    value = picks();
    select.replaceChildren(withNone ? h('option', { value: '' }, 'Not given') : '', value && !all.includes(value) ? option(value) : '', ...all.map(option));
    select.value = value;
  }).catch(() => { /* the picked language stays the only one */ });
}

/** languagePicker is the select of the head. changed is called with a language. */
export function languagePicker(changed) {
  const picker = h('select', { id: 'language', 'aria-label': 'Language of titles and texts', onchange: () => changed(picker.value) });
  languageOptions(picker, language);
  return picker;
}

/** themePicker is the switch of light and dark. */
export function themePicker() {
  const theme = h('select', {
    id: 'theme', 'aria-label': 'Theme',
    onchange: () => {
      keep('localStorage', 'reelsplice.theme', theme.value || null);
      if (theme.value) document.documentElement.dataset.theme = theme.value;
      else delete document.documentElement.dataset.theme;
      say(`Theme: ${THEMES[theme.value]}`);
    },
  }, Object.entries(THEMES).map(([key, label]) => h('option', { value: key, selected: key === (kept('localStorage', 'reelsplice.theme') ?? '') }, label)));
  return theme;
}

const LINKS = { '': ['#/', 'Start'], list: ['#/list/movie/popular', 'Lists'], discover: ['#/discover/movie', 'Discover'], splice: ['#/splice', 'Splice'], release: ['#/release', 'Release'], reference: ['#/reference', 'Reference'] };

/** drawLinks draws the navigation, with the view at as the current one. */
export function drawLinks(at) {
  const links = document.getElementById('links');
  if (!links.firstChild) replace(links, h('ul', { role: 'list' }, Object.entries(LINKS).map(([view, [href, label]]) => h('li', null, h('a', { href, 'data-view': view }, label)))));
  for (const link of links.querySelectorAll('a')) {
    if (link.dataset.view === at) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

/** menu lets the button of narrow screens fold navigation and controls out. A click elsewhere and Escape fold them in. */
export function menu() {
  const button = document.getElementById('menu');
  const isOpen = () => button.getAttribute('aria-expanded') === 'true';
  const open = (is) => button.setAttribute('aria-expanded', String(is));
  document.addEventListener('click', (event) => {
    if (button.contains(event.target)) open(!isOpen());
    else if (!event.target.closest('.tools')) open(false);
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !isOpen()) return;
    open(false);
    button.focus();
  });
}

export function pickLanguage(code) {
  setLanguage(code);
  const picker = document.getElementById('language');
  if (!picker) return;
  if (![...picker.options].some((o) => o.value === code)) picker.append(option(code));
  picker.value = code;
}
