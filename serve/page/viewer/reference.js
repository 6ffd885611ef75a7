// The API reference: Swagger UI over /openapi.json. Requests that it sends have the token of the page, which the tab keeps.

import { h, replace } from './dom.js';
import { setToken, token } from './api.js';
import { drawLinks, menu, themePicker } from './tools.js';

const leave = document.getElementById('leave');

/** drawState says whether the tab has a token. */
function drawState() {
  leave.hidden = !token();
  replace(document.getElementById('state'), token() ? 'Requests that you try here carry the token of this tab.' : ['To try requests here, ', h('a', { href: '../#/' }, 'enter a token'), ' first.']);
}
leave.addEventListener('click', () => { setToken(''); drawState(); });
drawLinks('reference', '../');
document.getElementById('tools').append(themePicker());
menu();
drawState();

window.SwaggerUIBundle({
  url: '../openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  validatorUrl: null, // no other host gets the document
  requestInterceptor: (request) => {
    if (token() && new URL(request.url, location.href).origin === location.origin) request.headers = { ...request.headers, Authorization: `Bearer ${token()}` };
    return request;
  },
});
