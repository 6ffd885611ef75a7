package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"unicode/utf8"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/text"
)

var errEmpty = errors.New("empty file")

var (
	// nfo matches the start of a title's NFO file, section of an INI or TOML file, idLine of a list of ids.
	section = regexp.MustCompile(`^\[+[.\w -]+\]+\s*\n[.\w-]+ *=`)
	nfo     = regexp.MustCompile(`^(?:\s|<[?!][^>]*>)*<(?:movie|tvshow)[\s>]`)
	idLine  = regexp.MustCompile(`^(?:(?:tt|nm)?\d+|(?:movie|tv|person|collection|company|network|keyword|tvdb)[ \t/]+\d+|https?://\S+)\s*(?:#|$)`)
)

// refuse returns why a stream is not a dump of any known format, or nil if it may be one.
// head is the start of the stream after a byte order mark and blanks.
func refuse(head []byte) error {
	if reason := refuseMagic(head); reason != "" {
		return errors.New(reason)
	}
	inner := bytes.TrimLeft(head, "[{ \t\r\n")
	outer := head[:len(head)-len(inner)]
	if bytes.HasSuffix(bytes.TrimRight(outer, " \t\r\n"), []byte("{")) && hasAnyPrefix(inner, "'", "u'", `u"`) {
		return fmt.Errorf("is a Python repr, not JSON (found {%s): write it with json.dumps", inner[:bytes.IndexAny(inner, `'"`)+1])
	}
	if section.Match(head) {
		return errors.New("is a file of settings, not JSON")
	}
	if head[0] == '<' {
		if hasAnyPrefix(bytes.ToLower(head[:min(len(head), 32)]), "<!doctype html", "<html", "<head") {
			return errors.New("is an HTML page, not a dump: probably an error page saved in its place")
		}
		if nfo.Match(head) {
			return errors.New("is an NFO file, which names a title: fetch it with reelsplice crawl --from URL --key-file KEY --out DIR --ids FILE")
		}
		return errors.New("is XML or HTML, not JSON")
	}
	return nil
}

// spreadsheet is why a workbook is refused.
const spreadsheet = "is a workbook of Excel or LibreOffice: save each sheet as CSV UTF-8, and ingest that"

// exported ends the reason for a file that another program can convert.
const exported = ": write its rows as Parquet or NDJSON"

// refuseMagic returns why a file is refused by its first bytes, or "".
func refuseMagic(head []byte) string {
	const nameAt = 30 // offset of the first file's name in a zip archive, such as a workbook
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) && len(head) > nameAt &&
		hasAnyPrefix(head[nameAt:], "[Content_Types].xml", "_rels/", "docProps/", "xl/", "mimetypeapplication/vnd.oasis.opendocument.spreadsheet") {
		return spreadsheet
	}
	for _, m := range [...]struct{ magic, reason string }{
		{"version https://git-lfs.github.com/spec/v1", `is a Git LFS pointer, not the data: fetch it with "git lfs pull" first`},
		{"PK\x03\x04", "is a zip archive: unpack it first"},
		{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", spreadsheet},
		{"BZh", "is compressed with bzip2, want gzip or zstd"},
		{"\xfd7zXZ\x00", "is compressed with xz, want gzip or zstd"},
		{"7z\xbc\xaf\x27\x1c", "is a 7z archive: unpack it first"},
		{"\x04\x22\x4d\x18", "is compressed with lz4, want gzip or zstd"},
		{"\x1f\x8b", "is compressed twice: unpack it first"},
		{"\x28\xb5\x2f\xfd", "is compressed twice: unpack it first"},
		{"SQLite format 3\x00", "is an SQLite database: export its tables first"},
		{"PARE", "is an encrypted Parquet file"},
		{"Obj\x01", "is an Avro file" + exported},
		{"ORC\n", "is an ORC file" + exported},
		{"ARROW1\x00\x00", "is an Arrow file" + exported},
		{"\x80\x04\x95", "is a Python pickle" + exported},
		{"\x80\x05\x95", "is a Python pickle" + exported},
		{"%PDF-", "is a PDF: want the table that it was made from"},
	} {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.reason
		}
	}
	if len(head) >= 262 && string(head[257:262]) == "ustar" {
		return "is a tar archive: unpack it first"
	}
	if first := head[:min(len(head), 4)]; bytes.Count(first, []byte{0}) == len(first) {
		return "begins with zero bytes: it is damaged, or was never written"
	}
	return ""
}

func hasAnyPrefix(b []byte, prefixes ...string) bool {
	for _, p := range prefixes {
		if bytes.HasPrefix(b, []byte(p)) {
			return true
		}
	}
	return false
}

// startText skips a byte order mark and leading blanks, refuses a stream that is not a dump,
// and returns the format of the rest. ext is the extension of the file. If the stream is damaged, the error is w.err.
// It buffers at most maxRow bytes, or the bytes of a header.
func startText(w *window, maxRow int, ext string) (Format, error) {
	w.skipMark()
	for b := w.fill(1); len(b) > 0 && (b[0] == '\n' || b[0] == '\r'); b = w.fill(1) {
		w.advance(1)
	}
	// A '\r' between JSON values is a blank.
	if head := bytes.TrimLeft(w.fill(512), " \t\r\n"); !hasAnyPrefix(head, "{", "[", "PAR1") && endsInCR(firstLine(w, maxHeaderBytes)) {
		w.unifyLines()
	}
	if f := tableByName(w, ext); f != formatUnknown {
		return f, nil
	}
	if _, ok := w.skipBlanks(); !ok {
		if w.err != io.EOF {
			return formatUnknown, w.err
		}
		return formatUnknown, errEmpty
	}
	head := w.fill(512)
	if bytes.HasPrefix(head, []byte("PAR1")) {
		return FormatParquet, nil
	}
	if err := refuse(head); err != nil {
		return formatUnknown, err
	}
	if head[0] == '[' {
		return FormatArray, nil
	}
	return formatOfLines(w, maxRow, ext)
}

// endsInCR reports whether a text, up to its first '\n', has lines that end with '\r' alone,
// as on old Macs. It ignores '\r' inside quotes.
func endsInCR(line []byte) bool {
	quoted := false
	for i, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
		case c == '\r' && !quoted:
			return i+1 < len(line)
		}
	}
	return false
}

// formatOfLines distinguishes NDJSON, whose first line is a complete value, from values over several lines. If the first line
// is broken rather than unfinished, it returns NDJSON, in which a bad row does not end the file.
func formatOfLines(w *window, maxRow int, ext string) (Format, error) {
	line := firstLine(w, maxRow)
	if line[0] != '{' {
		// null, a number or the second half of a cut row: a dump only if an object follows.
		if next := lineAfter(w, len(line)); len(next) > 0 && next[0] == '{' {
			return FormatNDJSON, nil
		}
		if idLine.Match(line) {
			return formatUnknown, errors.New("is a list of ids: fetch what it names with reelsplice crawl --from URL --key-file KEY --out DIR --ids FILE")
		}
		if f := record.CheckJSON(line, limit.MaxDepth); f == nil || !f.Syntax && bytes.IndexByte(line, 0) < 0 && utf8.Valid(line) {
			return FormatNDJSON, nil // valid JSON, but not an object
		}
		if ext == "" && tableByContent(w, isIdentifier) {
			return FormatCSV, nil
		}
		if ext != "" && tableByContent(w, isName) {
			return formatUnknown, fmt.Errorf("is CSV or TSV, but has the extension %s: rename it to .csv or .tsv", ext)
		}
		header := ""
		if bytes.ContainsAny(line, ",;\t|") {
			header = ": the first line of a table must name its columns"
		}
		return formatUnknown, fmt.Errorf("want JSON, CSV, TSV or Parquet, found text that starts with %q%s", text.Cut(line, 20), header)
	}
	var s scanner
	end, done, f := s.scan(line, 0)
	switch rest := bytes.TrimLeft(line[end:], " \t\r"); {
	case f != nil || s.str:
		return FormatNDJSON, nil
	case done && len(rest) > 0 && rest[0] == '{':
		return FormatObjects, nil
	case done || len(line) > maxRow:
		return FormatNDJSON, nil
	}
	if next := lineAfter(w, len(line)); len(next) > 0 && next[0] == '{' && !mayContinue(line, s.objects&1 == 1) {
		return FormatNDJSON, nil
	}
	return FormatObjects, nil
}

// mayContinue reports whether an object may follow the unfinished line. object means that the innermost open value is an
// object, not an array.
func mayContinue(line []byte, object bool) bool {
	line = bytes.TrimRight(line, " \t\r")
	switch line[len(line)-1] {
	case ':':
		return true
	case '[', ',':
		return !object
	}
	return false
}

// firstLine returns the held bytes up to the first line end, or all of them
// if they are more than maxRow or the stream ends. At least one byte is held.
func firstLine(w *window, maxRow int) []byte {
	_, _, _ = w.lineEnd(0, maxRow) // only to fill the window
	line, _, _ := bytes.Cut(w.data(), []byte{'\n'})
	return line
}

// lineAfter returns the start of the first non-blank line after the first n held bytes,
// empty if the next 4 KiB are blank.
func lineAfter(w *window, n int) []byte {
	b := w.fill(n + 4<<10)
	return bytes.TrimLeft(b[min(n, len(b)):], " \t\r\n")
}
