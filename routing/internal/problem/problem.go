package problem

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/text"
)

// MaxQuoted is how many bytes of a user's value a message repeats: messages end in conditions.
const MaxQuoted = 256

// Invalid returns a terminal error of the owner's spec: waiting does not mend it, an edit does.
func Invalid(reason string, cause error, format string, args ...any) error {
	return health.NewError(health.InvalidSpec, reason, fmt.Sprintf(format, args...), cause)
}

// Quote renders a user's value for a message, cut at a rune when it is long. Characters that need an escape count as what
// they become.
func Quote(value string) string { return QuoteAtMost(value, MaxQuoted) }

// QuoteAtMost is [Quote] with a limit of its own, in bytes.
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

// Shorten cuts the text of a cause, which may repeat a long value, to what fits a message.
func Shorten(message string) string {
	return text.Cut(message, 2*MaxQuoted)
}
