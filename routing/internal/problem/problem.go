package problem

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/text"
)

// MaxQuoted is the maximum number of bytes of a user's value in a message; messages appear in conditions.
const MaxQuoted = 256

// Invalid returns a terminal error about the owner's spec: only a change of the spec can fix it.
func Invalid(reason string, cause error, format string, args ...any) error {
	return health.NewError(health.InvalidSpec, reason, fmt.Sprintf(format, args...), cause)
}

// Quote quotes a user's value for a message and truncates it at a rune. The limit applies to the escaped text.
func Quote(value string) string { return QuoteAtMost(value, MaxQuoted) }

// QuoteAtMost is [Quote] with the given limit in bytes.
func QuoteAtMost(value string, limit int) string {
	end, mark := min(len(value), limit), ""
	for {
		if end < len(value) {
			mark = "..."
		}
		quoted := strconv.Quote(strings.ToValidUTF8(value[:end], "") + mark)
		if len(quoted) <= limit+len(`"..."`) || end == 0 {
			return quoted
		}
		end -= min(end, 1+(len(quoted)-limit)/8)
	}
}

// Shorten truncates the text of a cause, which may contain a long value.
func Shorten(message string) string {
	return text.Cut(message, 2*MaxQuoted)
}
