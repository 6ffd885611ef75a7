// The language picker and the switch of light and dark.

import { h, keep, kept, say } from './dom.js';
import { get, language, release, setLanguage } from './api.js';
import { language as languageName } from './format.js';

const THEMES = { '': 'Auto', light: 'Light', dark: 'Dark' };

/** option names a language in short, as a phone's head has no room for its region's name: the code has the region. */
const option = (code) => h('option', { value: code }, `${code} · ${languageName(code.split('-')[0])}`);

/** languageOptions fills a select: first the languages of the release, then all that the API lists. picks returns the picked one. */
export function languageOptions(select, picks, withNone) {
  let value = picks();
  select.replaceChildren(withNone ? h('option', { value: '' }, 'Not given') : '', value ? option(value) : '');
  Promise.all([get('/3/configuration/primary_translations'), release().catch(() => null)]).then(([all, about]) => {
    value = picks();
    const inRelease = (about?.languages ?? []).map((l) => l.language).filter(Boolean);
    const picked = inRelease.map((code) => (code.includes('-') ? code : preferred(all, code))).filter((code, i, list) => code && list.indexOf(code) === i);
    const rest = all.filter((code) => !picked.includes(code));
    select.replaceChildren(withNone ? h('option', { value: '' }, 'Not given') : '',
      value && !all.includes(value) && !picked.includes(value) ? option(value) : '',
      picked.length ? h('optgroup', { label: 'In this release' }, picked.map(option)) : '',
      h('optgroup', { label: picked.length ? 'Other languages' : 'Languages' }, rest.map(option)));
    select.value = value;
  }).catch(() => { /* the picked language stays the only one */ });
}

/** preferred is the usual tag of a language: de-DE for de, and the first listed where there is none of that form. */
function preferred(all, code) {
  const usual = { en: 'en-US', ja: 'ja-JP', zh: 'zh-CN', ko: 'ko-KR', sv: 'sv-SE', da: 'da-DK', cs: 'cs-CZ', el: 'el-GR', pt: 'pt-PT', ar: 'ar-SA', he: 'he-IL', uk: 'uk-UA', hi: 'hi-IN', vi: 'vi-VN' }[code] ?? `${code}-${code.toUpperCase()}`;
  return all.includes(usual) ? usual : all.find((tag) => tag.startsWith(`${code}-`)) ?? code;
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
