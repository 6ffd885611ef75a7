// Sets the theme before anything is drawn. A classic script, because modules run later.
try {
  const kept = localStorage.getItem('reelsplice.theme');
  if (kept === 'light' || kept === 'dark') document.documentElement.dataset.theme = kept;
} catch { /* storage may be switched off */ }
