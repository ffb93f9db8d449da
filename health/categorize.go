package health

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/url"
	"regexp"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/internal/text"
)

// unknownNamespace is the text with which controller-runtime's cache rejects a read in a namespace that it does not cover.
// controller-runtime has no error type for it.
const unknownNamespace = "because of unknown namespace for the cache"

// Categorize returns the error with a category, reason and message; nil for nil. An error with a category anywhere in its chain keeps
// that category. Otherwise the first match wins: a response of the API server, a context that ended, a kind that is not served or not in
// the scheme, a network error. Any other error is [Unknown].
//
// The message is the text of the error, so that it keeps the words of the API server, the webhook, the database or the caller. It has at
// most 1024 bytes. Credentials are replaced by "***", and values that change on every attempt, such as the caller's port, are removed.
//
// A missing kind is Infrastructure, not a missing dependency: it cannot be watched, so the operator has to retry.
func Categorize(err error) *Error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	e := recognise(err)
	e.Message = conditions.Bound(text.Scrub(steady(text.Cut(e.Message, maxExamined))))
	return e
}

func recognise(err error) *Error {
	if known, ok := errors.AsType[Classified](err); ok {
		return &Error{Category: category(known.HealthCategory()), Reason: known.HealthReason(), Message: err.Error(), Cause: err}
	}
	var answer apierrors.APIStatus
	if errors.As(err, &answer) {
		if e := fromStatus(answer.Status(), err); e != nil {
			return e
		}
	}
	if e := fromContext(err); e != nil {
		return e
	}
	if meta.IsNoMatchError(err) {
		return NewError(Infrastructure, reasonKindNotServed, notServed+err.Error(), err)
	}
	if unregistered(err) {
		return NewError(ProgramError, reasonKindNotInScheme, err.Error()+": add the type to the manager's scheme", err)
	}
	if e := fromNetwork(err); e != nil {
		return e
	}
	if strings.Contains(err.Error(), unknownNamespace) {
		return NewError(InvalidSpec, reasonNamespaceNotWatched, err.Error(), err)
	}
	return NewError(Unknown, reasonUnknown, err.Error(), err)
}

// unregistered reports whether a Go type is missing in the scheme.
func unregistered(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if runtime.IsNotRegisteredError(err) {
			return true
		}
	}
	return false
}

// varying matches text that differs between two equal failures: the caller's end of a connection, the time of a check, the ID of a
// request, a pointer, the time of an event (with a fraction, or preceded by a keyword).
var varying = []struct { //nolint:gochecknoglobals // compiled once, never changed
	form *regexp.Regexp
	keep string
}{
	{regexp.MustCompile(`\b(read|write) (tcp|udp)[46]? \S+->`), "${1} ${2} "},
	{regexp.MustCompile(`current time \S+ is `), "the current time is "},
	{regexp.MustCompile(`(?i)\b((?:x-)?(?:amz-)?(?:request|trace|span|correlation|operation|activity)[-_ ]?id["']?\s*[:=]?\s*["']?)[A-Za-z0-9-]*[0-9][A-Za-z0-9-]*`), "${1}-"},
	{regexp.MustCompile(`\b0x[0-9a-fA-F]{6,16}\b`), "0x-"},
	{regexp.MustCompile(`(?i)\b((?:at|time|timestamp|ts|date)["']?[ :=]+["']?)\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z| ?[+-]\d\d:?\d\d)?(?: [A-Z]{3,4})?`), "${1}-"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d+(?:Z| ?[+-]\d\d:?\d\d)?(?: [A-Z]{3,4})?(?: m=[+-][\d.]+)?`), "-"},
}

// maxExamined is the maximum length of the error text that is examined, which may be a response body; at most 1024 bytes of it are
// stored.
const maxExamined = 16 << 10

// steady removes values that change on every attempt from a message, because messages are stored.
func steady(message string) string {
	for _, v := range varying {
		message = v.form.ReplaceAllString(message, v.keep)
	}
	return message
}

// category parses the name of a category.
func category(word string) Category {
	switch c := Category(word); c {
	case InvalidSpec, MissingUpstreamDependency, MissingDownstreamDependency, Auth,
		ResourceExhaustion, Infrastructure, Conflict, ProgramError, Unknown:
		return c
	}
	return Unknown
}

// fromContext categorises the error of a context that ended. A deadline is not a failure of the API server.
func fromContext(err error) *Error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return NewError(Infrastructure, reasonTimeout, err.Error(), err)
	case errors.Is(err, context.Canceled):
		return NewError(Infrastructure, reasonCanceled, err.Error(), err)
	}
	return nil
}

// fromNetwork categorises errors of the transport.
func fromNetwork(err error) *Error {
	word := ""
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		word = errnoReason(errno)
	}
	_, isDNS := errors.AsType[*net.DNSError](err)
	_, isOp := errors.AsType[*net.OpError](err)
	switch {
	case word != "":
	case isDNS:
		word = reasonDNS
	case isOp:
		word = reasonNetwork
		if certificate(err) {
			word = reasonCertificate
		}
	default:
		word = requestReason(err)
	}
	if word == "" {
		return nil
	}
	return NewError(Infrastructure, word, err.Error(), err)
}

// errnoReason names the errors of a connection.
func errnoReason(errno syscall.Errno) string {
	switch {
	case errno == syscall.ECONNREFUSED:
		return reasonConnectionRefused
	case errno == syscall.ETIMEDOUT:
		return reasonNetworkTimeout
	case errno == syscall.ECONNRESET:
		return reasonConnectionReset
	case unreachable(errno):
		return reasonNetwork
	}
	return ""
}

// requestReason returns the reason of other network errors: TLS, a timeout, a failed request, a truncated response.
func requestReason(err error) string {
	if certificate(err) {
		return reasonCertificate
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return reasonNetworkTimeout
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return reasonNetwork
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return reasonConnectionReset
	}
	return ""
}

// certificate reports whether a certificate was rejected, by either side.
func certificate(err error) bool {
	_, verification := errors.AsType[*tls.CertificateVerificationError](err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, host := errors.AsType[x509.HostnameError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	alert, alerted := errors.AsType[tls.AlertError](err)
	return verification || authority || host || invalid || alerted && strings.Contains(alert.Error(), "certificate")
}

// unreachable reports whether the error number is about the route to a host.
func unreachable(errno syscall.Errno) bool {
	switch errno {
	case syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.ENETDOWN, syscall.EPIPE, syscall.ECONNABORTED:
		return true
	default:
		return false
	}
}

// flatten calls yield for every error of a plain join (errors.Join, an Aggregate of apimachinery), in order, so that each gets its own
// category. An error that wraps several errors with a text of its own is not split.
func flatten(err error, yield func(error)) {
	switch joined := err.(type) { //nolint:errorlint // only the outermost value can be a bare join
	case nil:
		return
	case interface{ Errors() []error }:
		for _, one := range joined.Errors() {
			flatten(one, yield)
		}
		return
	case interface{ Unwrap() []error }:
		parts := joined.Unwrap()
		if bareJoin(err, parts) {
			for _, one := range parts {
				flatten(one, yield)
			}
			return
		}
	}
	yield(err)
}

// bareJoin reports whether the text of the error is that of errors.Join over its parts, or the error is a [retryError].
func bareJoin(err error, parts []error) bool {
	if _, ok := err.(*retryError); ok { //nolint:errorlint // as above
		return true
	}
	text := err.Error()
	for i, one := range parts {
		if i > 0 {
			if len(text) == 0 || text[0] != '\n' {
				return false
			}
			text = text[1:]
		}
		part := one.Error()
		if len(text) < len(part) || text[:len(part)] != part {
			return false
		}
		text = text[len(part):]
	}
	return text == "" && len(parts) > 0
}
