// Requests to the edge: credential, language, images, errors.

import { keep, kept } from './dom.js';

const TOKEN = 'reelsplice.token';
const LANGUAGE = 'reelsplice.language';

export const token = () => kept('sessionStorage', TOKEN) ?? '';
export const setToken = (value) => keep('sessionStorage', TOKEN, value || null);
export const language = () => kept('localStorage', LANGUAGE) ?? 'en-US';
export const setLanguage = (value) => keep('localStorage', LANGUAGE, value);

/** A Failure is a response that is no success, or none at all (status 0). */
export class Failure extends Error {
  constructor(status, code, message, path) {
    super(message);
    this.status = status;
    this.code = code;
    this.path = path;
  }
}

/** headers has the credential of a request. */
export const headers = (more) => ({ Authorization: `Bearer ${token()}`, ...more });

/** url resolves a path of the API against the page's own address, which may lie below a prefix. */
export const url = (path) => new URL(path.replace(/^\//, ''), document.baseURI);

/** send asks for a path and returns the response, whatever its status. */
export async function send(path, options) {
  try {
    return await fetch(url(path), { credentials: 'omit', referrerPolicy: 'no-referrer', ...options, headers: headers(options?.headers) });
  } catch (err) {
    if (err.name === 'AbortError') throw err;
    throw new Failure(0, 0, 'The server did not respond. Check that it runs and that you are online.', path);
  }
}

/** failureOf reads a refusal; its message is the API's own where it has one. */
export async function failureOf(response, path) {
  let code = 0;
  let message = `The server responded with status ${response.status}.`;
  try {
    const body = await response.json();
    code = body.status_code ?? 0;
    message = body.status_message ?? message;
  } catch { /* no JSON: the status has to do */ }
  return new Failure(response.status, code, message, path);
}

/** get returns the JSON of a path, and throws a Failure for a refusal. */
export async function get(path, options) {
  const response = await send(path, options);
  if (!response.ok) throw await failureOf(response, path);
  return response.json();
}

/** withQuery adds parameters that have a value. */
export function withQuery(path, parameters) {
  const query = Object.entries(parameters)
    .filter(([, value]) => value !== '' && value !== null && value !== undefined)
    .map(([key, value]) => `${key}=${encodeURIComponent(value).replaceAll('%2C', ',').replaceAll('%2F', '/')}`)
    .join('&');
  return query ? `${path}${path.includes('?') ? '&' : '?'}${query}` : path;
}

/** localized adds the picked language. */
export const localized = (path, parameters) => withQuery(path, { ...parameters, language: language() });

let configured = null;
/** configuration is fetched once a token. */
export function configuration() {
  configured ??= get('/3/configuration').catch((err) => { configured = null; throw err; });
  return configured;
}
export function forget() {
  configured = null;
  released = null;
}

let released = null;
/** release describes the current release; null from a server that does not. */
export function release() {
  released ??= get('/page/release').catch((err) => {
    released = null;
    if (err.status === 404) return null;
    throw err;
  });
  return released;
}

/**
 * image returns the URL of an image, or '' without a path. kind is poster, profile, still, backdrop or logo;
 * width is in pixels, and the next larger size that the server lists is taken.
 */
export function image(settings, kind, path, width) {
  const images = settings?.images;
  if (!path || !images?.secure_base_url) return '';
  const sizes = (images[`${kind}_sizes`] ?? []).filter((name) => /^w\d+$/.test(name));
  const size = sizes.find((name) => Number(name.slice(1)) >= width) ?? 'original';
  return images.secure_base_url + size + path;
}

/** outside returns a URL that is safe to link to, or ''. */
export function outside(text) {
  try {
    const at = new URL(text);
    return at.protocol === 'https:' || at.protocol === 'http:' ? at.href : '';
  } catch {
    return '';
  }
}
