package health

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fromStatus categorises a response of the API server: by its text if that identifies the component that rejected the request, else by
// its reason, else by its code. The message is the text of the response. It returns nil for a status without reason and error code.
func fromStatus(status metav1.Status, cause error) *Error {
	e := &Error{Category: Infrastructure, Cause: cause, Message: messageOf(status, cause)}
	if byMessage(e, status) {
		return e
	}
	switch reason(status) {
	case metav1.StatusReasonNotFound:
		notFound(e, status)
	case metav1.StatusReasonUnauthorized:
		e.Category, e.Reason = Auth, reasonUnauthorized
	case metav1.StatusReasonForbidden:
		e.Category, e.Reason = Auth, reasonForbidden
	case metav1.StatusReasonInvalid:
		e.Category, e.Reason = InvalidSpec, reasonInvalid
	case metav1.StatusReasonConflict:
		conflict(e, status)
	case metav1.StatusReasonAlreadyExists:
		e.Category, e.Reason = Conflict, reasonAlreadyExists
	case metav1.StatusReasonServerTimeout, metav1.StatusReasonTimeout:
		e.Reason = reasonTimeout
	case metav1.StatusReasonServiceUnavailable:
		e.Reason = reasonServiceUnavailable
	case metav1.StatusReasonInternalError:
		e.Reason = reasonServerError
	case metav1.StatusReasonTooManyRequests:
		e.Reason = reasonRateLimited
	default:
		if !byCode(e, status) {
			return nil
		}
	}
	return e
}

// messageOf returns the text of the error, with the causes that it omits.
func messageOf(status metav1.Status, cause error) string {
	text := cause.Error()
	if text == "" {
		text = strings.TrimSpace("the API server answered " + strconv.Itoa(int(status.Code)) + " " + string(status.Reason))
	}
	if status.Details == nil {
		return text
	}
	for _, c := range status.Details.Causes {
		one := c.Message
		if one == "" || strings.Contains(text, one) && strings.Contains(text, c.Field) {
			continue
		}
		if c.Field != "" {
			one = c.Field + ": " + one
		}
		text += "; " + one
	}
	return text
}

// refusal is a response that is recognised by its text, because its code does not identify the component that rejected the request.
type refusal struct {
	pattern  *regexp.Regexp
	category Category
	reason   string
}

// secondController is the API server's text for the rejection of a second controller reference.
const secondController = "Only one reference can have Controller set to true"

// refusals are matched in order. The texts are those of the API server's admission, quota and storage code; the tests of
// reconcile/controller check them against an API server.
var refusals = []refusal{ //nolint:gochecknoglobals // compiled once, never changed
	{regexp.MustCompile(secondController), Conflict, reasonOwnedByAnother},
	{regexp.MustCompile(`admission webhook "[^"]*" denied the request`), InvalidSpec, reasonWebhookDenied},
	{regexp.MustCompile(`failed calling webhook "|failed to call webhook`), Infrastructure, reasonWebhookFailed},
	{regexp.MustCompile(`conversion webhook for .* (?:failed|returned)`), Infrastructure, reasonConversionFailed},
	{regexp.MustCompile(`(?i:policy) (?:'[^']*'|"[^"]*")(?: with binding '[^']*')? denied request`), InvalidSpec, reasonPolicyDenied},
	{regexp.MustCompile(`violates PodSecurity "|unable to validate against any security context constraint`), InvalidSpec, reasonPodSecurity},
	{
		regexp.MustCompile(`exceeded quota: |failed quota: |status unknown for quota: |insufficient quota to |quota usage is negative for `),
		ResourceExhaustion, reasonQuotaExceeded,
	},
	{
		regexp.MustCompile(`(?:maximum|minimum) \S+ (?:usage|limit|request) per |limit to request ratio per |error enforcing limit ranges`),
		InvalidSpec, reasonLimitRange,
	},
	{
		regexp.MustCompile(`is forbidden: (?:no PriorityClass with name |error looking up service account |the (?:integer|string) value of |` +
			`pod (?:node label selector|tolerations) |volume with secret\.|(?:init |ephemeral )?container \S+ with env|` +
			`imagePullSecrets\[|Use of external IPs |no service account specified |[Oo]nly (?:bound|dynamically))`),
		InvalidSpec, reasonAdmissionDenied,
	},
	{regexp.MustCompile(`because it is being terminated`), Infrastructure, reasonNamespaceTerminating},
	{regexp.MustCompile(`request is too large|[Rr]equest entity too large|trying to send message larger than max`), ResourceExhaustion, reasonTooLarge},
	{regexp.MustCompile(`database space exceeded`), ResourceExhaustion, reasonStorageFull},
	{regexp.MustCompile(`\betcdserver: `), Infrastructure, reasonStorageFailed},
	{regexp.MustCompile(`x509: |tls: failed to verify certificate`), Infrastructure, reasonCertificate},
}

// byMessage recognises by its text who rejected the request: a webhook, a policy, a quota, the storage. It skips invalid fields: their
// status has a list of causes, and the user's value may contain any text.
func byMessage(e *Error, status metav1.Status) bool {
	text := status.Message
	if hasCause(status, "NamespaceTerminating") { // corev1.NamespaceTerminatingCause
		e.Reason = reasonNamespaceTerminating
		return true
	}
	invalid := reason(status) == metav1.StatusReasonInvalid && hasField(status)
	for _, r := range refusals {
		if invalid && r.reason != reasonOwnedByAnother || !r.pattern.MatchString(text) {
			continue
		}
		e.Category, e.Reason = r.category, r.reason
		if r.category == InvalidSpec && status.Code >= http.StatusInternalServerError {
			e.Category = Infrastructure // the webhook itself reports that it could not decide
		}
		return true
	}
	return false
}

// reason returns the reason of a status, derived from the code if it is empty, as the helpers of apimachinery do.
func reason(status metav1.Status) metav1.StatusReason {
	if status.Reason != metav1.StatusReasonUnknown {
		return status.Reason
	}
	switch status.Code {
	case http.StatusNotFound:
		return metav1.StatusReasonNotFound
	case http.StatusUnauthorized:
		return metav1.StatusReasonUnauthorized
	case http.StatusForbidden:
		return metav1.StatusReasonForbidden
	case http.StatusUnprocessableEntity:
		return metav1.StatusReasonInvalid
	case http.StatusConflict:
		return metav1.StatusReasonConflict
	case http.StatusTooManyRequests:
		return metav1.StatusReasonTooManyRequests
	case http.StatusInternalServerError:
		return metav1.StatusReasonInternalError
	case http.StatusServiceUnavailable:
		return metav1.StatusReasonServiceUnavailable
	case http.StatusGatewayTimeout:
		return metav1.StatusReasonTimeout
	}
	return metav1.StatusReasonUnknown
}

// byCode categorises the remaining responses by code. Codes of a protocol mismatch between client and server, or of an expired list, are
// not errors of the owner.
func byCode(e *Error, status metav1.Status) bool {
	switch code := status.Code; {
	case code >= http.StatusInternalServerError:
		e.Reason = reasonServerError
	case code == http.StatusGone:
		e.Reason = "Expired"
	case code == http.StatusRequestEntityTooLarge:
		e.Category, e.Reason = ResourceExhaustion, reasonTooLarge
	case code == http.StatusMethodNotAllowed, code == http.StatusNotAcceptable, code == http.StatusUnsupportedMediaType:
		e.Category, e.Reason = Unknown, "NotSupported"
	case code >= http.StatusBadRequest:
		e.Category, e.Reason = InvalidSpec, "ClientError"
	default:
		return false
	}
	return true
}

// notFound distinguishes a missing object from a path that the API server does not serve.
func notFound(e *Error, status metav1.Status) {
	if hasCause(status, metav1.CauseTypeUnexpectedServerResponse) {
		e.Reason, e.Message = reasonKindNotServed, notServed+e.Message
		return
	}
	e.Category, e.Reason = MissingDownstreamDependency, reasonNotFound
}

// conflict distinguishes fields that another manager owns (server-side apply) from an outdated resourceVersion.
func conflict(e *Error, status metav1.Status) {
	e.Category, e.Reason = Conflict, reasonConflict
	if hasCause(status, metav1.CauseTypeFieldManagerConflict) {
		e.Reason = reasonFieldsContested
	}
}

func hasCause(status metav1.Status, kind metav1.CauseType) bool {
	if status.Details == nil {
		return false
	}
	for _, c := range status.Details.Causes {
		if c.Type == kind {
			return true
		}
	}
	return false
}

// hasField reports whether a cause names a field.
func hasField(status metav1.Status) bool {
	if status.Details == nil {
		return false
	}
	for _, c := range status.Details.Causes {
		if c.Field != "" {
			return true
		}
	}
	return false
}
