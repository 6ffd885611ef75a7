// Returns the bytes of a response by the strip, by the table, and by its header.
(async () => {
  const r = await fetch(decodeURIComponent(location.hash.split('path=')[1]), {cache: 'no-store', headers: {Authorization: 'Bearer ' + sessionStorage.getItem('reelsplice.token')}});
  const n = (e) => Number(e.textContent.replaceAll(',', ''));
  return {
    Strip: [...document.querySelectorAll('.film .frame')].reduce((sum, e) => sum + Number(e.style.getPropertyValue('--bytes')), 0),
    Table: [...document.querySelectorAll('#parts tbody tr')].reduce((sum, row) => sum + n(row.querySelectorAll('td.n')[1]), 0),
    Length: Number(r.headers.get('Content-Length')),
    Names: [...document.querySelectorAll('#parts tbody th')].map((e) => e.textContent),
    Check: document.querySelector('#sum-check').textContent,
  };
})()
