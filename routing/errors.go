package routing

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reconcilekit/reconcilekit/health"
)

// Reasons of the errors and health components of this package, as they appear in conditions.
const (
	// ReasonPathTemplateInvalid: a path template cannot be parsed, or gives no usable path for this object.
	ReasonPathTemplateInvalid = "PathTemplateInvalid"
	// ReasonTimeoutInvalid: a timeout is not a Gateway API duration (GEP-2257) or cannot be written as one.
	ReasonTimeoutInvalid = "TimeoutInvalid"
	// ReasonGatewayNotConfigured: routing is enabled and no layer names a gateway.
	ReasonGatewayNotConfigured = "GatewayNotConfigured"
	// ReasonRouteInvalid: a planned HTTPRoute breaks a limit of the HTTPRoute CRD.
	ReasonRouteInvalid = "HTTPRouteInvalid"
	// ReasonPathConflict: an older owner claims the same path on the same gateway, listener and host.
	ReasonPathConflict = "PathConflict"
)

// maxQuoted is how many bytes of a user's value a message repeats: messages end in conditions.
const maxQuoted = 256

// invalid is a terminal error of the owner's spec: waiting does not mend it, an edit does.
func invalid(reason string, cause error, format string, args ...any) error {
	return health.NewError(health.InvalidSpec, reason, fmt.Sprintf(format, args...), cause)
}

// quote renders a user's value for a message, cut at a rune when it is long. Characters that need an escape count as what
// they become.
func quote(value string) string { return quoteAtMost(value, maxQuoted) }

func quoteAtMost(value string, limit int) string {
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

// shorten cuts the text of a cause, which may repeat a long value, to what fits a message.
func shorten(text string) string {
	if len(text) <= 2*maxQuoted {
		return text
	}
	return strings.ToValidUTF8(text[:2*maxQuoted], "") + "..."
}
