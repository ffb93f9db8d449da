package conditions

import (
	"strings"

	"github.com/reconcilekit/reconcilekit/internal/text"
)

const (
	maxMessage = 1024  // of a composed message and of the note of an event
	maxStored  = 32768 // metav1.Condition, message
	maxReason  = 1024  // metav1.Condition, reason

	unspecified = "Unspecified" // the reason where none is given: the API requires one
)

// Bound truncates the message to at most 1024 bytes at a rune boundary and marks a cut with "...". Use it for messages composed of parts
// whose number or length is not known; 1024 bytes is also the limit of the events API. Invalid UTF-8 is replaced, because the API server
// rejects it. A short valid message is returned unchanged.
func Bound(message string) string { return text.Cut(message, maxMessage) }

// acceptedReason returns a reason that the API accepts: `[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?`, at most 1024 bytes. Other characters
// are removed; an empty result becomes "Unspecified".
func acceptedReason(reason string) string {
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
	return unspecified
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
