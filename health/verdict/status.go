package verdict

import (
	"net/http"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
)

// fromStatus categorises an answer of the API server, by its reason or, where that is empty, by its code. It returns nil for an
// answer that says neither.
func fromStatus(status metav1.Status, cause error) *Error {
	e := &Error{Category: Infrastructure, Cause: cause}
	switch reason(status) {
	case metav1.StatusReasonNotFound:
		notFound(e, status)
	case metav1.StatusReasonUnauthorized:
		e.Category, e.Reason, e.Message = Auth, "Unauthorized", "Authentication required or invalid credentials"
	case metav1.StatusReasonForbidden:
		forbidden(e, status)
	case metav1.StatusReasonInvalid:
		invalid(e, status)
	case metav1.StatusReasonConflict:
		conflict(e, status)
	case metav1.StatusReasonAlreadyExists:
		e.Category, e.Reason, e.Message = Conflict, "AlreadyExists", "Resource already exists"
	case metav1.StatusReasonServerTimeout, metav1.StatusReasonTimeout:
		e.Reason, e.Message = ReasonTimeout, "Request timed out"
	case metav1.StatusReasonServiceUnavailable, metav1.StatusReasonInternalError:
		e.Reason, e.Message = "ServiceUnavailable", "Kubernetes API server unavailable or internal error"
	case metav1.StatusReasonTooManyRequests:
		e.Reason, e.Message = "RateLimited", "Too many requests - rate limited"
	default:
		if !byCode(e, status) {
			return nil
		}
	}
	e.Message = conditions.Bound(e.Message)
	return e
}

// reason returns the reason of a status, derived from the code where it is empty, as the helpers of apimachinery do.
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

// byCode categorises what has no case of its own. Codes that say that client and server do not understand each other, or that a
// list has to start again, are not the fault of the owner's author.
func byCode(e *Error, status metav1.Status) bool {
	switch code := status.Code; {
	case code >= http.StatusInternalServerError:
		e.Reason, e.Message = "ServerError", "Server error (5xx)"
	case code == http.StatusGone:
		e.Reason, e.Message = "Expired", "The requested version is gone; the next read starts again"
	case code == http.StatusRequestEntityTooLarge:
		e.Category, e.Reason, e.Message = ResourceExhaustion, "TooLarge", "The request is larger than the API server accepts"
	case code == http.StatusMethodNotAllowed, code == http.StatusNotAcceptable, code == http.StatusUnsupportedMediaType:
		e.Category, e.Reason = Unknown, "NotSupported"
		e.Message = "The API server does not support this request (" + strconv.Itoa(int(code)) + ")"
	case code == http.StatusBadRequest && status.Message != "":
		e.Category, e.Reason, e.Message = InvalidSpec, "ClientError", "Client error (4xx): "+status.Message
	case code >= http.StatusBadRequest:
		e.Category, e.Reason, e.Message = InvalidSpec, "ClientError", "Client error (4xx)"
	default:
		return false
	}
	return true
}

// notFound tells an object that is missing from a path that the API server does not serve.
func notFound(e *Error, status metav1.Status) {
	if hasCause(status, metav1.CauseTypeUnexpectedServerResponse) {
		e.Reason, e.Message = ReasonKindNotServed, "The API server does not serve this kind: "+status.Message
		return
	}
	e.Category, e.Reason, e.Message = MissingDownstreamDependency, "NotFound", "Resource not found"
	if d := status.Details; d != nil && d.Name != "" {
		e.Message += ": " + strings.TrimSpace(d.Kind+" "+strconv.Quote(d.Name))
	}
}

// forbidden tells a missing permission from the other refusals that come with a 403: a quota, an admission decision about the
// object, a namespace on its way out.
func forbidden(e *Error, status metav1.Status) {
	text := status.Message
	switch {
	case hasCause(status, "NamespaceTerminating"): // corev1.NamespaceTerminatingCause
		e.Reason, e.Message = "NamespaceTerminating", "The namespace is being terminated"
	case strings.Contains(text, "exceeded quota"):
		e.Category, e.Reason, e.Message = ResourceExhaustion, "QuotaExceeded", text
	case strings.Contains(text, "denied the request"), strings.Contains(text, "denied request"),
		strings.Contains(text, "violates PodSecurity"):
		e.Category, e.Reason, e.Message = InvalidSpec, "AdmissionDenied", text
	default:
		e.Category, e.Reason, e.Message = Auth, "Forbidden", "Insufficient permissions to access resource"
		if strings.Contains(text, " cannot ") { // the authoriser's text names subject, verb and resource
			e.Message += ": " + text
		}
	}
}

// secondController is how the API server's validation of object metadata refuses a second controller reference.
const secondController = "Only one reference can have Controller set to true"

// invalid keeps the fields and messages of a 422.
func invalid(e *Error, status metav1.Status) {
	if strings.Contains(status.Message, secondController) {
		e.Category, e.Reason, e.Message = Conflict, "OwnedByAnother", status.Message
		return
	}
	e.Category, e.Reason, e.Message = InvalidSpec, "InvalidSpec", "Resource specification is invalid"
	if text := causes(status); text != "" {
		e.Message += ": " + text
	} else if strings.Contains(status.Message, " is invalid: ") || strings.Contains(status.Message, "denied request") {
		e.Message += ": " + status.Message
	}
}

// conflict tells fields that another manager owns (server-side apply) from an outdated resourceVersion.
func conflict(e *Error, status metav1.Status) {
	e.Category = Conflict
	if hasCause(status, metav1.CauseTypeFieldManagerConflict) {
		e.Reason, e.Message = "FieldConflict", "Fields are owned by another manager: "+causes(status)
		return
	}
	e.Reason, e.Message = "Conflict", "Resource conflict - version mismatch or concurrent modification"
}

// causes lists the causes of a status as "field: message", in the order of the API server.
func causes(status metav1.Status) string {
	if status.Details == nil {
		return ""
	}
	var list []string
	for _, c := range status.Details.Causes {
		switch {
		case c.Field != "" && c.Message != "":
			list = append(list, c.Field+": "+c.Message)
		case c.Message != "":
			list = append(list, c.Message)
		}
	}
	return strings.Join(list, "; ")
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
