// Returns the widths of the picker of languages, of its longest name, and of the page.
(() => {
  const picker = document.querySelector('#language');
  const longest = picker.cloneNode(true);
  picker.style.fieldSizing = longest.style.fieldSizing = 'fixed'; // as wide as the longest option, if there is room
  longest.replaceChildren(...longest.querySelectorAll('option')); // groups indent theirs in the list alone
  longest.style.position = 'absolute';
  longest.style.maxWidth = 'none';
  document.body.append(longest);
  longest.style.padding = getComputedStyle(picker).padding;
  const got = {Picker: picker.offsetWidth, Longest: longest.offsetWidth, Page: document.documentElement.scrollWidth};
  longest.remove();
  picker.style.fieldSizing = '';
  return got;
})()
