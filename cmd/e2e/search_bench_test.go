package e2e

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/build/index"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/writertest"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/serve/query"
)

// titleMaker makes titles whose words are as unevenly spread as those of real ones.
type titleMaker struct {
	r     *rand.Rand
	words []string
	zipf  *rand.Zipf
}

func newTitleMaker(seed uint64) *titleMaker {
	m := &titleMaker{r: rand.New(rand.NewPCG(seed, 7))}
	syllables := strings.Fields("ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu an en in on un ar er ir or ur st th sh ch al el il ol ul ma me mi mo ra re ro sa se si ta te ti to la le li")
	seen := map[string]bool{}
	for _, w := range strings.Fields("the of a and in la de le der die el to on my man love life night day") {
		m.words, seen[w] = append(m.words, w), true
	}
	for len(m.words) < 150_000 {
		w := ""
		for range 2 + m.r.IntN(4) {
			w += syllables[m.r.IntN(len(syllables))]
		}
		if !seen[w] {
			m.words, seen[w] = append(m.words, w), true
		}
	}
	m.zipf = rand.NewZipf(m.r, 1.07, 4, uint64(len(m.words)-1))
	return m
}

func (m *titleMaker) title() string {
	if m.r.IntN(12) == 0 { // Han and Kana
		t := make([]rune, 2+m.r.IntN(10))
		for i := range t {
			t[i] = 0x4e00 + rune(math.Abs(m.r.NormFloat64())*700)
			if m.r.IntN(3) == 0 {
				t[i] = 0x3042 + rune(m.r.IntN(80))
			}
		}
		return string(t)
	}
	t := make([]string, 1+m.r.IntN(5))
	for i := range t {
		t[i] = m.words[m.zipf.Uint64()]
	}
	return strings.Join(t, " ")
}

// makeTitles calls fn with n movies; famous ones have many names.
func makeTitles(n int, fn func(nameRow)) {
	m := newTitleMaker(1)
	for i := range n {
		row := nameRow{
			kind: fragment.KindMovie, id: int64(i + 1), popularity: 500 / math.Pow(1+float64(i)/50, 0.8), adult: m.r.IntN(10) == 0,
			title: m.title(), date: strconv.Itoa(1950+m.r.IntN(76)) + "-05-05",
		}
		row.original = row.title
		if m.r.IntN(3) == 0 {
			row.original = m.title()
		}
		for range min(60, 300_000/(i+5000)) {
			row.translated = append(row.translated, m.title())
		}
		fn(row)
	}
}

// BenchmarkSearch searches generated movies: 20,000, or the number in REELSPLICE_SEARCH_ROWS. It reports times of single searches in microseconds.
func BenchmarkSearch(b *testing.B) {
	rows := 20_000
	if s := os.Getenv("REELSPLICE_SEARCH_ROWS"); s != "" {
		var err error
		if rows, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	dir, titles, names := benchRelease(b, rows)
	info, err := os.Stat(filepath.Join(dir, "table-movie"))
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d movies, %d names; table of %d MB", rows, names, info.Size()>>20)
	rel, err := release.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer rel.Close()
	table, _ := rel.Table("movie")
	total := 0
	for _, name := range table.Sections() {
		if n := len(table.Section(name)); strings.HasPrefix(name, "text.") {
			total += n
			b.Logf("%-16s %11d bytes, %5.1f a name", name, n, float64(n)/float64(names))
		}
	}
	b.Logf("%-16s %11d bytes, %5.1f a name, %5.1f a movie", "all", total, float64(total)/float64(names), float64(total)/float64(rows))
	e := query.Open(rel, query.DefaultCacheBytes)
	if err := e.Err(); err != nil {
		b.Fatal(err)
	}
	debug.FreeOSMemory() // what building took
	mixed := []string{"1 word", "2 words", "3 words", "prefix", "title", "typo"}
	for _, kind := range append(mixed, "mixed", "year", "hostile") {
		b.Run(strings.ReplaceAll(kind, " ", ""), func(b *testing.B) {
			r := rand.New(rand.NewPCG(3, 4))
			var took []time.Duration
			var out query.Result
			b.ReportAllocs()
			for b.Loop() {
				of := kind
				if of == "mixed" {
					of = mixed[r.IntN(len(mixed))]
				}
				s := benchQuery(r, of, titles)
				start := time.Now()
				if err := e.Search(&s, 1, 20, &out); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			for _, p := range []int{50, 99} {
				b.ReportMetric(float64(took[len(took)*p/100].Microseconds()), fmt.Sprintf("p%d-µs", p))
			}
			b.ReportMetric(float64(took[len(took)-1].Microseconds()), "max-µs")
		})
	}
	if status, err := os.ReadFile("/proc/self/status"); err == nil { // where there is one
		for line := range strings.Lines(string(status)) {
			if strings.HasPrefix(line, "Rss") {
				b.Log(strings.TrimSpace(line))
			}
		}
	}
}

// benchRelease builds a release of generated movies; titles are some of them.
func benchRelease(b *testing.B, rows int) (dir string, titles []string, names int) {
	b.Helper()
	start := time.Now()
	releases := b.TempDir()
	w, err := writertest.Create(releases)
	if err != nil {
		b.Fatal(err)
	}
	s, err := w.Part(nil)
	if err != nil {
		b.Fatal(err)
	}
	rowsOf := extsort.New(extsort.Options{Dir: b.TempDir(), Memory: 256 << 20, Sections: len(tables.Kinds)})
	defer rowsOf.Close()
	iw := index.NewWriter(rowsOf, func(table int, _ []byte) int { return table })
	r := rand.New(rand.NewPCG(5, 6))
	makeTitles(rows, func(n nameRow) {
		key := fragment.AppendID(nil, n.kind, fragment.ID(n.id))
		if err := s.Add(release.ResourceSpec{Key: key, ID: uint64(n.id)}); err != nil {
			b.Fatal(err)
		}
		if err := n.add(iw); err != nil {
			b.Fatal(err)
		}
		if len(titles) < 1000 || r.IntN(40) == 0 {
			titles = append(titles, n.title)
		}
		names += len(n.names())
	})
	if _, err := s.Close(); err != nil {
		b.Fatal(err)
	}
	collected := time.Now()
	writeTables(b, rowsOf, w, 256<<20)
	b.Logf("rows collected in %v, tables written in %v", collected.Sub(start).Round(time.Millisecond), time.Since(collected).Round(time.Millisecond))
	m, err := w.Seal(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return filepath.Join(releases, m.ID), titles, names
}

// benchQuery makes a query of a kind.
func benchQuery(r *rand.Rand, kind string, titles []string) query.Search {
	words := func(n int) []string {
		for {
			if f := strings.Fields(titles[r.IntN(len(titles))]); len(f) >= n {
				r.Shuffle(len(f), func(i, j int) { f[i], f[j] = f[j], f[i] })
				return f[:n]
			}
		}
	}
	s := query.Search{Kind: fragment.KindMovie, Fuzzy: true}
	q := ""
	switch kind {
	case "1 word", "2 words", "3 words":
		q = strings.Join(words(int(kind[0]-'0')), " ")
	case "prefix":
		f := words(1 + r.IntN(3))
		last := []rune(f[len(f)-1])
		f[len(f)-1] = string(last[:min(len(last), 1+r.IntN(5))])
		q = strings.Join(f, " ")
	case "title":
		q = titles[r.IntN(len(titles))]
	case "typo":
		f := words(2)
		i := r.IntN(2)
		for len(f[i]) < 4 || f[i][0] >= 0x80 {
			f = words(2)
		}
		at := 1 + r.IntN(len(f[i])-1)
		f[i] = f[i][:at] + "q" + f[i][at+1:]
		q = strings.Join(f, " ")
	case "year":
		q = strings.Join(words(1), " ")
		s.PrimaryYear = 1950 + r.IntN(76)
	case "hostile":
		q = hostileQueries[r.IntN(len(hostileQueries))]
	}
	s.Query = []byte(q)
	return s
}

// hostileQueries are meant to take long.
var hostileQueries = []string{
	strings.Repeat("a", 10_000), strings.Repeat("a ", 5_000), strings.Repeat("the of a and in la de le der die ", 300), strings.Repeat("の", 4_000),
	"t", "a", "s e", "the a of la t", strings.Repeat("*", 10_000), strings.Repeat("\u202e\u0301", 3_000), strings.Repeat("\x00\xff", 5_000),
	strings.Repeat("matterhornen", 2) + " sanctimoniouz incomprehensibilitiez transcendentallz philosophicallz counterrevolutionariez",
	"sozatirela sonatirelo sonatizela sonatireka sonatirala sonatirema", strings.Repeat("q-", 200), strings.Repeat("e\u0301", 5_000), "(((%_?*|", strings.Repeat("ﷺ", 2_000),
}
