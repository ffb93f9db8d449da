package text

import (
	"strings"
	"unicode/utf8"
)

// ellipsis is the end of a truncated text.
const ellipsis = "..."

// Cut truncates the text to at most limit bytes, at a rune boundary and with "..." at the end. Invalid UTF-8 is replaced, because the API
// server rejects it. A short valid text is returned unchanged. If the limit is too small for the ellipsis, Cut returns only the beginning
// of the text.
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
