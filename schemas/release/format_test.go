package release

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

func formatText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("FORMAT.md")
	sharedtest.NoError(t, err)
	return string(text)
}

// tableOf returns the rows of the table in FORMAT.md with that name: the first two
// cells and a third one, the field.
func tableOf(t *testing.T, name string) []string {
	t.Helper()
	_, rest, ok := strings.Cut(formatText(t), "<!-- table: "+name+" -->\n")
	if !ok {
		t.Fatalf("FORMAT.md has no table %q", name)
	}
	var rows []string
	for i, line := range strings.Split(rest, "\n") {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if i < 2 {
			continue // heading
		}
		cells := strings.Split(line, "|")
		for k := range cells {
			cells[k] = strings.TrimSpace(cells[k])
		}
		rows = append(rows, strings.Join(cells[1:min(4, len(cells)-1)], " "))
	}
	return rows
}

func TestFormatTables(t *testing.T) {
	row := func(from, to int, field string) string { return fmt.Sprintf("%d %d %s", from, to-from, field) }
	for name, want := range map[string][]string{
		"header": {row(headerMagic, headerVersion, "magic"), row(headerVersion, HeaderLen, "version")},
		"footer": {
			row(footerContent, footerCounts, "content"), row(footerCounts, footerCRC, "counts"),
			row(footerCRC, FooterLen, "CRC"),
		},
		"slot, in bits": {
			row(0, refOffBits, "block"), row(refOffBits, refOffBits+refPartBits, "part"), row(slotRefBits, slotRefBits+slotTagBits, "tag"),
		},
		"block": {
			row(blockKeyLen, blockType, "key length"), row(blockType, blockFragments, "type"),
			row(blockFragments, blockRecipes, "fragments"), row(blockRecipes, blockNumber, "recipes"),
			row(blockNumber, blockKey, "number"),
			fmt.Sprintf("%d key length key", blockKey),
		},
		"fragment": {
			row(fragmentAddress, fragmentRecipe, "address"), row(fragmentRecipe, fragmentLen, "recipe"),
		},
		"facts": {
			row(factsCRC, factsOp, "CRC"), row(factsOp, factsHash, "CRC operator"), row(factsHash, factsLen, "hash"),
		},
		"section": {
			row(sectionName, sectionOff, "name"), row(sectionOff, sectionSize, "offset"), row(sectionSize, sectionLen, "size"),
		},
		"limits": {
			fmt.Sprint("parts ", MaxParts), fmt.Sprint("bytes of a part ", int64(maxPartBytes)), fmt.Sprint("index files ", maxIndexes),
			fmt.Sprint("packs ", maxPacks), fmt.Sprint("bytes of a pack ", int64(maxPackBytes)),
			fmt.Sprint("bytes of all files ", int64(maxBytes)),
			fmt.Sprint("fragments of a resource ", maxFragments), fmt.Sprint("pieces of a fragment ", MaxPieces),
			fmt.Sprint("bytes of a literal ", maxLiteral),
			fmt.Sprint("bytes of a text with codes ", maxText),
			fmt.Sprint("nested references and includes ", MaxDepth),
			fmt.Sprint("sections of a table ", maxSections),
			fmt.Sprint("bytes of a key ", fragment.MaxKeyLen),
		},
	} {
		if got := tableOf(t, name); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("table %q of FORMAT.md:\n%q, want\n%q", name, got, want)
		}
	}
	numbered := func(table string, names int, name func(i int) string) {
		t.Helper()
		rows := tableOf(t, table)
		if len(rows) != names-1 {
			t.Errorf("table %q of FORMAT.md has %d rows, want %d", table, len(rows), names-1)
		}
		for i, r := range rows {
			if want := fmt.Sprintf("%d %s ", i+1, name(i+1)); !strings.HasPrefix(r, want) {
				t.Errorf("table %q of FORMAT.md: %q, want %q", table, r, want)
			}
		}
	}
	numbered("operations", len(opNames), func(i int) string { return Op(i).String() })
	phraseRows := tableOf(t, "phrases")
	if len(phraseRows) != len(phrases) {
		t.Fatalf("table of phrases in FORMAT.md has %d rows, want %d", len(phraseRows), len(phrases))
	}
	for i, p := range phrases {
		if want := fmt.Sprintf("%s `%s` ", codeOf(i), p); phraseRows[i]+" " != want {
			t.Errorf("row %d of the table of phrases in FORMAT.md is %q, want %q", i, phraseRows[i], want)
		}
	}
	numbered("words", len(wordNames), func(i int) string { return Word(i).String() })
}

// codeOf returns the bytes that stand for a phrase.
func codeOf(number int) string { return fmt.Sprintf("`% x`", AppendText(nil, []byte(phrases[number]))) }

func TestFormatMagics(t *testing.T) {
	text := formatText(t)
	for _, magic := range []string{indexMagic, partMagic, packMagic, tableMagic} {
		if !strings.Contains(text, fmt.Sprintf("`% x`", magic)) {
			t.Errorf("FORMAT.md lacks the magic % x", magic)
		}
	}
	versions := regexp.MustCompile(`(?m)^\| (\d+) \| `).FindStringSubmatch(text)
	if versions == nil || versions[1] != fmt.Sprint(FeatureVersion) {
		t.Errorf("FORMAT.md starts with version %v, want %d", versions, FeatureVersion)
	}
}
