// Makes elements. Strings reach the document as text nodes only, never as markup.

const SVG = 'http://www.w3.org/2000/svg';

/** h makes an HTML element: h('a.card', {href}, child, ...). Null and false children are left out. */
export function h(name, attributes, ...children) {
  const [tag, ...classes] = name.split('.');
  return fill(document.createElement(tag), classes, attributes, children);
}

/** s makes an SVG element. */
export function s(name, attributes, ...children) {
  const [tag, ...classes] = name.split('.');
  return fill(document.createElementNS(SVG, tag), classes, attributes, children);
}

function fill(element, classes, attributes, children) {
  if (classes.length) element.setAttribute('class', classes.join(' '));
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key.startsWith('--')) element.style.setProperty(key, value);
    else element.setAttribute(key, value === true ? '' : value);
  }
  add(element, children);
  return element;
}

/** add appends children, which may be nested lists. */
export function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === '') continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** replace swaps the content of an element. */
export function replace(element, ...children) {
  element.replaceChildren();
  add(element, children);
}

/** say announces a sentence to screen readers. */
export function say(sentence) {
  const at = document.getElementById('say');
  at.textContent = '';
  setTimeout(() => { at.textContent = sentence; }, 30);
}

/** keep and kept use a storage that may be switched off: the value then lives as long as the page. */
const memory = new Map();
export function keep(storage, key, value) {
  memory.set(key, value);
  try {
    if (value === null) window[storage].removeItem(key);
    else window[storage].setItem(key, value);
  } catch { /* memory has it */ }
}
export function kept(storage, key) {
  try {
    return window[storage].getItem(key) ?? memory.get(key) ?? null;
  } catch {
    return memory.get(key) ?? null;
  }
}
