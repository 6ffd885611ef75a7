// Command words counts phrases that stop a reader: in comments and texts of Go, in comments of scripts, and in
// documents. It reads file names from stdin, prints the worst files, and fails above a limit.
package main

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A pattern is a kind of phrase, and a better wording.
type pattern struct {
	name, instead string
	phrase        *regexp.Regexp
}

var patterns = []pattern{
	{"fragment", "a noun, or no comment", regexp.MustCompile(`^of\s`)},
	{"that of", "the noun, or nothing", regexp.MustCompile(`(?i)\b(that|those) of\b`)},
	{"clause", "a noun: response, client, owner", regexp.MustCompile(`(?i)\b(what (is|are|was|were)|who asks?|whoever|those (which|who|that)|that which)\b`)},
	{"behind", "after", regexp.MustCompile(`(?i)\bbehind\b`)},
	{"at hand", "current, available", regexp.MustCompile(`(?i)\bat hand\b`)},
	{"none", "is not one, has no", regexp.MustCompile(`(?i)\b(is|are|be) none\b|\bof no one\b|\bthere is none\b`)},
	{"person", "returns, holds, requires, reports", regexp.MustCompile(`(?i)\b(says|knows|wants|tells|told|believes|is asked|are asked)\b`)},
}

// exempt are phrases with another meaning: a program behind a proxy.
var exempt = regexp.MustCompile(`(?i)\bbehind (a |an |the |your |another |its |one |it,? )?(reverse |own |same |load )?(prox|nginx|caddy|traefik|haproxy|envoy|front|cdn|balancer|cloud|ingress|nat\b|varnish|apache|squid|firewall)`)

type phrase struct {
	line int
	text string
}

func main() {
	limit := flag.Int("limit", -1, "fail above `N` phrases; -1 for no limit")
	all := flag.Bool("all", false, "print each phrase with its place")
	flag.Parse()
	counts, files := map[string]int{}, map[string]int{}
	total := 0
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		phrases, err := read(in.Text())
		if err != nil {
			fmt.Fprintln(os.Stderr, "words:", err)
			os.Exit(1)
		}
		for _, p := range phrases {
			text := exempt.ReplaceAllString(p.text, "")
			for _, pat := range patterns {
				for _, span := range pat.phrase.FindAllStringIndex(text, -1) {
					counts[pat.name]++
					files[in.Text()]++
					total++
					if *all {
						fmt.Printf("%s:%d: %s: %s\n", in.Text(), p.line, pat.name, text[max(0, span[0]-40):min(len(text), span[1]+40)])
					}
				}
			}
		}
	}
	for _, pat := range patterns {
		fmt.Printf("%5d  %-9s write %s\n", counts[pat.name], pat.name, pat.instead)
	}
	fmt.Printf("%5d  in all\n", total)
	worst := make([]string, 0, len(files))
	for name := range files {
		worst = append(worst, name)
	}
	slices.SortFunc(worst, func(a, b string) int { return cmp.Or(files[b]-files[a], strings.Compare(a, b)) })
	for _, name := range worst[:min(10, len(worst))] {
		fmt.Printf("%5d  %s\n", files[name], name)
	}
	if *limit >= 0 && total > *limit {
		fmt.Fprintf(os.Stderr, "words: %d phrases that stop a reader, want %d or fewer: scripts/words.sh -all lists them\n", total, *limit)
		os.Exit(1)
	}
}

// read returns the prose of a file.
func read(name string) ([]phrase, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	switch filepath.Ext(name) {
	case ".go":
		return goPhrases(name, text), nil
	case ".md":
		return documentPhrases(string(text)), nil
	}
	return scriptPhrases(string(text)), nil
}

// goPhrases returns the comments and string literals of a Go file. Lines of one comment are one phrase.
func goPhrases(name string, text []byte) (out []phrase) {
	set := token.NewFileSet()
	file := set.AddFile(name, -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	comment := -2 // line of the last comment without code
	code := -1    // line of the last code
	for {
		pos, tok, lit := s.Scan()
		line := file.Line(pos)
		switch {
		case tok == token.EOF:
			return out
		case tok == token.COMMENT && strings.HasPrefix(lit, "//"):
			lit = strings.TrimSpace(lit[2:])
			if line == comment+1 && line != code {
				out[len(out)-1].text += " " + lit
			} else {
				out = append(out, phrase{line, lit})
			}
			if comment = line; line == code {
				comment = -2
			}
		case tok == token.COMMENT:
			out = append(out, phrase{line, strings.TrimSpace(strings.Trim(lit, "/*"))})
		case tok == token.STRING:
			if strings.Contains(lit, " ") {
				out = append(out, phrase{line, lit})
			}
			code = line
		case tok == token.SEMICOLON && lit == "\n":
		default:
			code = line
		}
	}
}

// documentPhrases returns the lines of a document without its code.
func documentPhrases(text string) (out []phrase) {
	code := false
	for n, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			code = !code
		case !code:
			out = append(out, phrase{n + 1, line})
		}
	}
	return out
}

var inScript = regexp.MustCompile(`(^|\s)# ?(.*)$`)

// scriptPhrases returns the comments of a shell script.
func scriptPhrases(text string) (out []phrase) {
	for n, line := range strings.Split(text, "\n") {
		if m := inScript.FindStringSubmatch(line); m != nil && !strings.HasPrefix(line, "#!") {
			out = append(out, phrase{n + 1, m[2]})
		}
	}
	return out
}
