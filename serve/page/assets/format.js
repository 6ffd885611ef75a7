// Numbers, dates and names as people read them.

const whole = new Intl.NumberFormat('en');
const dollars = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 });
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
const languages = new Intl.DisplayNames('en', { type: 'language' });
const regions = new Intl.DisplayNames('en', { type: 'region' });

export const number = (n) => whole.format(n);
export const money = (n) => dollars.format(n);

/** bytes gives exact bytes below 10 kB and three digits above. */
export function bytes(n) {
  if (n < 10000) return `${whole.format(n)} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let i = -1;
  do { n /= 1000; i++; } while (n >= 999.5 && i < units.length - 1);
  return `${n.toPrecision(3)} ${units[i]}`;
}

/** date gives a day, or the text itself when it is none. */
export function date(text) {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : day.format(at);
}

export const year = (text) => (text ?? '').slice(0, 4);

export function minutes(n) {
  const hours = Math.floor(n / 60);
  return hours ? `${hours} h ${n % 60} min` : `${n} min`;
}

/** age says how long ago an instant was. */
export function age(text) {
  const passed = (Date.now() - new Date(text).getTime()) / 1000;
  if (Number.isNaN(passed)) return '';
  for (const [unit, seconds] of [['day', 86400], ['hour', 3600], ['minute', 60]]) {
    const n = Math.floor(passed / seconds);
    if (n >= 1) return `${whole.format(n)} ${unit}${n === 1 ? '' : 's'} ago`;
  }
  return 'a moment ago';
}

function named(names, code) {
  try {
    return names.of(code) ?? code;
  } catch {
    return code; // no code of the standard
  }
}
export const language = (code) => named(languages, code);
export const region = (code) => named(regions, code);

export const count = (n, one, many = `${one}s`) => `${whole.format(n)} ${n === 1 ? one : many}`;
