// The API reference: Swagger UI over /openapi.json. Requests that it sends have the token of the page,
// which the tab keeps, unless another one was given by its button Authorize.
"use strict";

const withToken = (request) => {
  const token = sessionStorage.getItem("reelsplice.token");
  const headers = request.headers || {};
  const given = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  if (token && !given && new URL(request.url, location.href).origin === location.origin) {
    request.headers = { ...headers, Authorization: "Bearer " + token };
  }
  return request;
};

window.SwaggerUIBundle({
  url: "../openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  validatorUrl: null, // no other host gets the document
  persistAuthorization: false,
  requestInterceptor: withToken,
});
