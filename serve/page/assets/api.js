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

/** url resolves a path of the API against the page's own address, which may lie below a prefix. This module lies in page/. */
const root = new URL('../', import.meta.url);
export const url = (path) => new URL(path.replace(/^\//, ''), root);

/** reached returns what a promise of the network gives, and shows whether the server responds. */
async function reached(promise, path, message) {
  const note = document.getElementById('offline');
  try {
    const got = await promise;
    note.hidden = true;
    return got;
  } catch (err) {
    if (err.name === 'AbortError') throw err;
    note.hidden = err.name !== 'TypeError'; // the others are of a body that arrived
    throw new Failure(0, 0, message, path);
  }
}

/** send asks for a path and returns the response, whatever its status. */
export async function send(path, options) {
  if (!/^[\x21-\x7e]*$/.test(token())) throw new Failure(401, 0, 'This is no token: it has a blank or a letter that tokens do not have. Copy it again.', path);
  const response = await reached(fetch(url(path), { cache: 'no-cache', credentials: 'omit', referrerPolicy: 'no-referrer', ...options, headers: headers(options?.headers) }),
    path, 'The server did not respond. Check that it runs and that its address is right.');
  const id = response.headers.get('X-Reelsplice-Release');
  if (id && id !== newest) {
    if (newest) released = null;
    newest = id;
  }
  return response;
}

/** read reads the body of a response: as is json or arrayBuffer. */
export const read = (response, path, as) => reached(response[as](), path, 'The response broke off, or is not what the API sends. Try again.');

/** failureOf reads a refusal; its message is the API's own where it has one. */
export async function failureOf(response, path) {
  let code = 0;
  let message = `The server responded with status ${response.status}.`;
  try {
    const body = await response.json();
    code = body.status_code ?? 0;
    message = body.status_message ?? body.errors?.[0] ?? message;
  } catch { /* no JSON: the status has to do */ }
  return new Failure(response.status, code, message, path);
}

/** get returns the JSON of a path, and throws a Failure for a refusal. */
export async function get(path, options) {
  const response = await send(path, options);
  if (!response.ok) throw await failureOf(response, path);
  return read(response, path, 'json');
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

let newest = ''; // the release of the last response
let released = null;
/** release describes the current release; null from a server that does not. It is fetched once a release, or anew. */
export function release(anew) {
  if (anew) released = null;
  released ??= get('/page/release').catch((err) => {
    released = null;
    if (err.status === 404) return null;
    throw err;
  });
  return released;
}

/**
 * image returns the URL of an image, or '' without a path. kind is poster, profile, still, backdrop or logo;
 * width is in pixels, and the next larger size that the server lists is taken. A path of TMDB's shows the source in the foot.
 */
export function image(settings, kind, path, width) {
  const images = settings?.images;
  if (!path || !images?.secure_base_url) return '';
  if (/^\/[A-Za-z0-9]{25,}\.\w+$/.test(path)) document.getElementById('tmdb').hidden = false; // the names of TMDB's images
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
