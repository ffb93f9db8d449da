package verdict

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
)

// Reasons that [Categorize] gives.
const (
	// ReasonUnknown stands for an error that nothing is known about.
	ReasonUnknown = "UnknownError"
	// ReasonTimeout stands for a deadline that passed, here or at the API server.
	ReasonTimeout = "Timeout"
	// ReasonKindNotServed stands for a kind that the API server does not know: its CustomResourceDefinition is missing.
	ReasonKindNotServed = "KindNotServed"
)

// Categorize finds the category of an error, and a reason and message for it; nil for nil. An error that has a category, anywhere in
// its chain, keeps it, whatever its cause is. Then, first match wins: an answer of the API server, a context that ended, a kind
// that is not served, the network; all else is [Unknown] with the error's own text.
//
// A missing kind counts as Infrastructure, not as a missing dependency: no watch can be set on it, so it has to be tried again.
func Categorize(err error) *Error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
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
		return NewError(Infrastructure, ReasonKindNotServed, "The API server does not serve this kind: "+err.Error(), err)
	}
	if e := fromNetwork(err); e != nil {
		return e
	}
	return NewError(Unknown, ReasonUnknown, err.Error(), err)
}

// category reads a word as a category.
func category(word string) Category {
	switch c := Category(word); c {
	case InvalidSpec, MissingUpstreamDependency, MissingDownstreamDependency, Auth,
		ResourceExhaustion, Infrastructure, Conflict, Unknown:
		return c
	}
	return Unknown
}

// fromContext tells a deadline from the API server's fault: both pass.
func fromContext(err error) *Error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return NewError(Infrastructure, ReasonTimeout, "Request timed out", err)
	case errors.Is(err, context.Canceled):
		return NewError(Infrastructure, "Canceled", "Request was canceled", err)
	}
	return nil
}

// fromNetwork tells errors of the transport apart. The texts leave out ports and addresses, which differ from try to try.
func fromNetwork(err error) *Error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		if e := fromErrno(errno, err); e != nil {
			return e
		}
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return NewError(Infrastructure, "DNSFailure", "DNS resolution failed for "+dns.Name, err)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return NewError(Infrastructure, "NetworkError", "Network operation failed: "+op.Op, err)
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok && unreachable(errno) {
		return NewError(Infrastructure, "NetworkError", "Network operation failed: "+errno.Error(), err)
	}
	return fromRequest(err)
}

// fromErrno names the errors of a connection that everybody knows.
func fromErrno(errno syscall.Errno, err error) *Error {
	switch errno {
	case syscall.ECONNREFUSED:
		return NewError(Infrastructure, "ConnectionRefused", "Connection refused - service may be down", err)
	case syscall.ETIMEDOUT:
		return NewError(Infrastructure, "NetworkTimeout", "Network timeout", err)
	case syscall.ECONNRESET:
		return NewError(Infrastructure, "ConnectionReset", "Connection reset by peer", err)
	default:
		return nil
	}
}

// fromRequest tells what is left: TLS, time, a request that failed for another reason, an answer that broke off.
func fromRequest(err error) *Error {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return NewError(Infrastructure, "CertificateInvalid", "The server's certificate cannot be verified", err)
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return NewError(Infrastructure, "NetworkTimeout", "Network timeout", err)
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		return NewError(Infrastructure, "NetworkError", "Network operation failed: "+request.Op, err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return NewError(Infrastructure, "ConnectionReset", "Connection closed in the middle of an answer", err)
	}
	return nil
}

// unreachable says whether the number is about the way to a host.
func unreachable(errno syscall.Errno) bool {
	switch errno {
	case syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.ENETDOWN, syscall.EPIPE, syscall.ECONNABORTED:
		return true
	default:
		return false
	}
}

// flatten calls yield for every error of a plain join (errors.Join, an Aggregate of apimachinery), in order, so that each gets its own
// category. An error that wraps several with words of its own stays one.
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

// bareJoin says whether the text of the error is that of errors.Join over its parts, or the error is a [RetryError].
func bareJoin(err error, parts []error) bool {
	if _, ok := err.(*RetryError); ok { //nolint:errorlint // as above
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
