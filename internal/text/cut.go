package text

import (
	"strings"
	"unicode/utf8"
)

// ellipsis stands at the end of a text that was cut.
const ellipsis = "..."

// Cut returns the text in at most limit bytes, cut at a rune boundary and with "..." at the end where something was left out. Invalid
// UTF-8 is replaced, as the API server would refuse it. What fits is returned as it is. A limit too small for the ellipsis gives the
// beginning of the text alone.
func Cut(text string, limit int) string {
	if len(text) <= limit && utf8.ValidString(text) {
		return text
	}
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if len(text) <= limit {
		return text
	}
	mark := ellipsis
	if limit < len(ellipsis) {
		mark = ""
	}
	end := max(limit-len(mark), 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}
