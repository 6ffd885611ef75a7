// The language picker and the switch of light and dark.

import { h, keep, kept, say } from './dom.js';
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

/** tools are the controls in the head of the page. changed is called with a language. */
export function tools(changed) {
  const picker = h('select', { id: 'language', 'aria-label': 'Language of titles and texts', onchange: () => changed(picker.value) });
  languageOptions(picker, language);
  const theme = h('select', {
    id: 'theme', 'aria-label': 'Theme',
    onchange: () => {
      keep('localStorage', 'reelsplice.theme', theme.value || null);
      if (theme.value) document.documentElement.dataset.theme = theme.value;
      else delete document.documentElement.dataset.theme;
      say(`Theme: ${THEMES[theme.value]}`);
    },
  }, Object.entries(THEMES).map(([key, label]) => h('option', { value: key, selected: key === (kept('localStorage', 'reelsplice.theme') ?? '') }, label)));
  return [picker, theme];
}

export function pickLanguage(code) {
  setLanguage(code);
  const picker = document.getElementById('language');
  if (!picker) return;
  if (![...picker.options].some((o) => o.value === code)) picker.append(option(code));
  picker.value = code;
}
