package conditions

import (
	"strings"
	"unicode/utf8"
)

const (
	// MaxMessage is the bound, in bytes, of a composed message and of an event's text (the events API's own limit).
	MaxMessage = 1024

	maxStored = 32768 // metav1.Condition, message
	maxReason = 1024  // metav1.Condition, reason
	ellipsis  = "..."
)

// Unspecified is the reason of a condition that was set without one: the API requires a reason.
const Unspecified = "Unspecified"

// Bound returns the text cut to at most [MaxMessage] bytes at a rune boundary, with "..." where something was cut. Invalid UTF-8
// is replaced, as the API server would refuse it. What fits is returned as it is.
func Bound(message string) string { return cut(message, MaxMessage) }

// cut bounds a text to so many bytes; limit is larger than the ellipsis.
func cut(text string, limit int) string {
	if len(text) <= limit && utf8.ValidString(text) {
		return text
	}
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if len(text) <= limit {
		return text
	}
	end := limit - len(ellipsis)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}

// Reason returns a reason that the API accepts: `[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?`, at most 1024 bytes. Other characters are
// left out, an empty result becomes [Unspecified]. A valid reason is returned as it is.
func Reason(reason string) string {
	if validReason(reason) {
		return reason
	}
	var b strings.Builder
	for i := 0; i < len(reason) && b.Len() < maxReason; i++ {
		c := reason[i]
		if letter(c) || (b.Len() > 0 && (digit(c) || punctuation(c) || c == '_')) {
			b.WriteByte(c)
		}
	}
	if repaired := strings.TrimRight(b.String(), ",:"); repaired != "" {
		return repaired
	}
	return Unspecified
}

func validReason(reason string) bool {
	if reason == "" || len(reason) > maxReason || !letter(reason[0]) || punctuation(reason[len(reason)-1]) {
		return false
	}
	for i := range len(reason) {
		if c := reason[i]; !letter(c) && !digit(c) && !punctuation(c) && c != '_' {
			return false
		}
	}
	return true
}

func letter(c byte) bool      { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func digit(c byte) bool       { return '0' <= c && c <= '9' }
func punctuation(c byte) bool { return c == ',' || c == ':' }
