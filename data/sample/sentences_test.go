package sample

import (
	"encoding/json"
	"io/fs"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// runLength is how many words in a row a sentence of ours may not share.
const runLength = 8

// A corpus holds the texts of others: whole ones and every run of words.
type corpus struct{ whole, runs map[string]bool }

func (c corpus) add(text string) {
	w := words(text)
	if len(w) > 0 {
		c.whole[strings.Join(w, " ")] = true
	}
	for i := 0; i+runLength <= len(w); i++ {
		c.runs[strings.Join(w[i:i+runLength], " ")] = true
	}
}

// shares returns what text has in common with the corpus, or "".
func (c corpus) shares(text string) string {
	w := words(text)
	if whole := strings.Join(w, " "); c.whole[whole] {
		return whole
	}
	for i := 0; i+runLength <= len(w); i++ {
		if run := strings.Join(w[i:i+runLength], " "); c.runs[run] {
			return run
		}
	}
	return ""
}

// sentenceKeys are the keys that sentences stand under.
var sentenceKeys = map[string]bool{"overview": true, "tagline": true, "biography": true, "content": true, "description": true}

// addSentences adds all sentences below v.
func (c corpus) addSentences(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			c.addSentences(e)
		}
	case map[string]any:
		for k, e := range v {
			if s, ok := e.(string); ok && sentenceKeys[k] {
				c.add(s)
			}
			c.addSentences(e)
		}
	}
}

// readCorpus returns the texts of all recordings and of the crawl of series.
func readCorpus(t *testing.T) corpus {
	t.Helper()
	c := corpus{map[string]bool{}, map[string]bool{}}
	root := os.DirFS(sharedtest.Path(t, "recorded"))
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".json") {
			return err
		}
		b, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		var v any
		if json.Unmarshal(b, &v) == nil { // some recordings are no JSON on purpose
			c.addSentences(v)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range readMovnixTV(t, seriesByID(t)) {
		c.add(f.Show.Overview)
		for _, se := range f.Seasons {
			c.add(se.Overview)
			for _, e := range se.Episodes {
				c.add(e.Overview)
			}
		}
	}
	return c
}

// TestAllSentencesAreOurs compares every sentence of the sample with every one of the
// recordings and of the crawl.
func TestAllSentencesAreOurs(t *testing.T) {
	skipAlone(t)
	c := readCorpus(t)
	if len(c.whole) < 5000 || c.shares("When he is not at the office, "+aRun(c)+" he sleeps.") == "" {
		t.Fatalf("a corpus of %d texts that finds nothing", len(c.whole))
	}
	ours := 0
	for _, file := range []string{"movies.ndjson", "tv.ndjson", "seasons.ndjson", "episodes.ndjson", "people.ndjson", "collections.ndjson", "companies.ndjson", "episode_groups.ndjson", "lists.ndjson"} {
		for _, row := range readRows[map[string]any](t, file) {
			mine := corpus{map[string]bool{}, map[string]bool{}}
			mine.addSentences(row)
			for text := range mine.whole {
				ours++
				if run := c.shares(text); run != "" {
					t.Errorf("%s: %v: %q shares %q", file, row["id"], text, run)
				}
			}
		}
	}
	if ours < 1000 {
		t.Errorf("compared %d sentences of ours, want at least 1000", ours)
	}
	t.Logf("%d sentences compared with %d", ours, len(c.whole))
}

// aRun returns a run of words of the corpus.
func aRun(c corpus) string {
	for run := range c.runs {
		return run
	}
	return ""
}

// words splits s into case-folded words, with punctuation dropped.
func words(s string) []string {
	s = strings.NewReplacer("'", "", "’", "").Replace(strings.ToLower(s))
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
