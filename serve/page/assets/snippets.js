// A request as a program in several languages.

/** snippets returns the programs by language. address is absolute. */
export function snippets(address, token) {
  const js = (text) => JSON.stringify(text);
  return {
    curl: `curl --compressed -H ${shell(`Authorization: Bearer ${token}`)} ${shell(address)}`,
    javascript: `const response = await fetch(${js(address)}, {
  headers: { Authorization: ${js(`Bearer ${token}`)} },
});
if (!response.ok) throw new Error((await response.json()).status_message);
console.log(await response.json());
`,
    python: `import gzip
import json
import urllib.request

request = urllib.request.Request(
    ${js(address)},
    headers={"Authorization": ${js(`Bearer ${token}`)}, "Accept-Encoding": "gzip"},
)
with urllib.request.urlopen(request) as response:
    print(json.loads(gzip.decompress(response.read())))
`,
    go: `package main

import (
	"io"
	"log"
	"net/http"
	"os"
)

func main() {
	request, err := http.NewRequest(http.MethodGet, ${js(address)}, nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", ${js(`Bearer ${token}`)})
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		log.Fatal(response.Status)
	}
	if _, err := io.Copy(os.Stdout, response.Body); err != nil {
		log.Fatal(err)
	}
}
`,
  };
}

/** shell quotes a word for a POSIX shell. */
const shell = (word) => `'${word.replaceAll("'", `'\\''`)}'`;
