package health_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/reconcilekit/reconcilekit/health"
)

// typed is an error type of another package with its own category.
type typed struct{ category string }

func (typed) Error() string            { return "kept: shared object" }
func (e typed) HealthCategory() string { return e.category }
func (typed) HealthReason() string     { return "Kept" }

func TestCategorize(t *testing.T) {
	t.Parallel()
	pods := schema.GroupResource{Resource: "pods"}
	widget := schema.GroupKind{Group: "example.com", Kind: "Widget"}
	status := func(code int32, reason metav1.StatusReason, message string, causes ...metav1.StatusCause) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Code: code, Reason: reason, Message: message, Details: &metav1.StatusDetails{Causes: causes},
		}}
	}
	type want struct {
		Category        health.Category
		Reason, Message string
	}
	cases := map[string]struct {
		err  error
		want want
	}{
		"422 names the fields": {
			apierrors.NewInvalid(widget, "w", field.ErrorList{
				field.Invalid(field.NewPath("spec", "size"), -1, "must be positive"), field.Required(field.NewPath("spec", "name"), ""),
			}),
			want{health.InvalidSpec, "InvalidSpec", `Widget.example.com "w" is invalid: [spec.size: Invalid value: -1: must be positive, ` +
				`spec.name: Required value]`},
		},
		"422 by a policy": {
			status(422, "Invalid", `widgets "w" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`,
				metav1.StatusCause{Message: "no"}),
			want{health.InvalidSpec, "AdmissionPolicyDenied", `widgets "w" is forbidden: ` +
				`ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`},
		},
		"422 with causes that the message omits": {
			status(422, "Invalid", "refused", metav1.StatusCause{Field: "spec.size", Message: "too large"}),
			want{health.InvalidSpec, "InvalidSpec", "refused; spec.size: too large"},
		},
		"422 for a value that quotes a webhook": {
			apierrors.NewInvalid(widget, "w", field.ErrorList{
				field.Invalid(field.NewPath("spec", "text"), `admission webhook "x" denied the request`, "bad"),
			}),
			want{health.InvalidSpec, "InvalidSpec", `Widget.example.com "w" is invalid: spec.text: Invalid value: ` +
				`"admission webhook \"x\" denied the request": bad`},
		},
		"422 about a second controller": {
			apierrors.NewInvalid(widget, "w", field.ErrorList{field.Invalid(field.NewPath("metadata", "ownerReferences"), nil,
				`Only one reference can have Controller set to true. Found "true" in references for A/a and B/b`)}),
			want{health.Conflict, "OwnedByAnother", `Widget.example.com "w" is invalid: metadata.ownerReferences: Invalid value: ` +
				`null: Only one reference can have Controller set to true. Found "true" in references for A/a and B/b`},
		},
		"409 about fields": {
			status(409, "Conflict", "Apply failed with 1 conflict", metav1.StatusCause{
				Type: metav1.CauseTypeFieldManagerConflict, Field: ".spec.replicas", Message: `conflict with "kubectl" using apps/v1`,
			}),
			want{health.Conflict, "FieldsContested", `Apply failed with 1 conflict; .spec.replicas: conflict with "kubectl" using apps/v1`},
		},
		"409 about a version": {
			apierrors.NewConflict(pods, "p", errors.New("modified")),
			want{health.Conflict, "Conflict", `Operation cannot be fulfilled on pods "p": modified`},
		},
		"already exists": {
			apierrors.NewAlreadyExists(pods, "p"), want{health.Conflict, "AlreadyExists", `pods "p" already exists`},
		},
		"not found names the object": {
			fmt.Errorf("read: %w", apierrors.NewNotFound(pods, "p")),
			want{health.MissingDownstreamDependency, "NotFound", `read: pods "p" not found`},
		},
		"unknown path": {
			status(404, "NotFound", "the server could not find the requested resource",
				metav1.StatusCause{Type: metav1.CauseTypeUnexpectedServerResponse, Message: "404 page not found"}),
			want{health.Infrastructure, "KindNotServed", "The API server does not serve this kind: " +
				"the server could not find the requested resource; 404 page not found"},
		},
		"403 by role": {
			apierrors.NewForbidden(pods, "", errors.New(`User "u" cannot list resource "pods"`)),
			want{health.Auth, "Forbidden", `pods is forbidden: User "u" cannot list resource "pods"`},
		},
		"403 by quota": {
			apierrors.NewForbidden(pods, "p", errors.New("exceeded quota: small, requested: cpu=2")),
			want{health.ResourceExhaustion, "QuotaExceeded", `pods "p" is forbidden: exceeded quota: small, requested: cpu=2`},
		},
		"403 by a quota without status": {
			apierrors.NewForbidden(pods, "p", errors.New("status unknown for quota: small, resources: pods")),
			want{health.ResourceExhaustion, "QuotaExceeded", `pods "p" is forbidden: status unknown for quota: small, resources: pods`},
		},
		"403 by a policy without binding": {
			apierrors.NewForbidden(pods, "p", errors.New(`policy "p" denied request: no params`)),
			want{health.InvalidSpec, "AdmissionPolicyDenied", `pods "p" is forbidden: policy "p" denied request: no params`},
		},
		"403 by a mutating policy": {
			apierrors.NewForbidden(pods, "p", errors.New(`policy 'p' with binding 'b' denied request: no such key: a`)),
			want{health.InvalidSpec, "AdmissionPolicyDenied", `pods "p" is forbidden: policy 'p' with binding 'b' denied request: no such key: a`},
		},
		"403 by a missing service account": {
			apierrors.NewForbidden(pods, "p", errors.New(`error looking up service account ns/a: serviceaccount "a" not found`)),
			want{health.InvalidSpec, "AdmissionDenied", `pods "p" is forbidden: error looking up service account ns/a: serviceaccount "a" not found`},
		},
		"403 by a ratio of limits": {
			apierrors.NewForbidden(pods, "p", errors.New("cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000")),
			want{
				health.InvalidSpec, "LimitRangeViolation",
				`pods "p" is forbidden: cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000`,
			},
		},
		"500 by full storage": {
			status(500, "InternalError", "etcdserver: mvcc: database space exceeded"),
			want{health.ResourceExhaustion, "StorageFull", "etcdserver: mvcc: database space exceeded"},
		},
		"500 by storage without a leader": {
			status(500, "", "rpc error: code = Unavailable desc = etcdserver: leader changed"),
			want{health.Infrastructure, "StorageFailed", "rpc error: code = Unavailable desc = etcdserver: leader changed"},
		},
		"500 by a wrong conversion response": {
			status(500, "InternalError", "conversion webhook for a.b/v1, Kind=C returned 0 objects, expected 1"),
			want{health.Infrastructure, "ConversionWebhookFailed", "conversion webhook for a.b/v1, Kind=C returned 0 objects, expected 1"},
		},
		"403 by a webhook": {
			status(403, "Forbidden", `admission webhook "w.example.com" denied the request: no label`),
			want{health.InvalidSpec, "AdmissionWebhookDenied", `admission webhook "w.example.com" denied the request: no label`},
		},
		"403 by pod security": {
			apierrors.NewForbidden(pods, "p", errors.New(`violates PodSecurity "restricted:latest": runAsNonRoot`)),
			want{health.InvalidSpec, "PodSecurityViolation", `pods "p" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot`},
		},
		"403 by a terminating namespace": {
			status(403, "Forbidden", "x", metav1.StatusCause{Type: "NamespaceTerminating"}),
			want{health.Infrastructure, "NamespaceTerminating", "x"},
		},
		"400": {
			apierrors.NewBadRequest("unknown field spec.sise"),
			want{health.InvalidSpec, "ClientError", "unknown field spec.sise"},
		},
		"415": {status(415, "UnsupportedMediaType", ""), want{health.Unknown, "NotSupported", "the API server answered 415 UnsupportedMediaType"}},
		"canceled": {
			fmt.Errorf("list: %w", context.Canceled), want{health.Infrastructure, "Canceled", "list: context canceled"},
		},
		"deadline exceeded in a request": {
			&url.Error{Op: "Get", URL: "https://10.0.0.1", Err: context.DeadlineExceeded},
			want{health.Infrastructure, "Timeout", `Get "https://10.0.0.1": context deadline exceeded`},
		},
		"certificate": {
			&url.Error{Op: "Get", URL: "https://10.0.0.1", Err: &tls.CertificateVerificationError{Err: errors.New("unknown authority")}},
			want{
				health.Infrastructure, "CertificateInvalid",
				`Get "https://10.0.0.1": tls: failed to verify certificate: unknown authority`,
			},
		},
		"other request": {
			&url.Error{Op: "Get", URL: "https://10.0.0.1:3245", Err: io.EOF},
			want{health.Infrastructure, "NetworkError", `Get "https://10.0.0.1:3245": EOF`},
		},
		"refused": {
			&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
			want{health.Infrastructure, "ConnectionRefused", "dial: connect: connection refused"},
		},
		"unknown host name": {
			&net.OpError{Op: "dial", Err: &net.DNSError{Name: "db.example.com", Err: "no such host"}},
			want{health.Infrastructure, "DNSFailure", "dial: lookup db.example.com: no such host"},
		},
		"network": {
			&net.OpError{Op: "read", Err: errors.New("closed")}, want{health.Infrastructure, "NetworkError", "read: closed"},
		},
		"no route": {
			os.NewSyscallError("connect", syscall.EHOSTUNREACH),
			want{health.Infrastructure, "NetworkError", "connect: " + syscall.EHOSTUNREACH.Error()},
		},
		"unknown kind": {
			&meta.NoKindMatchError{GroupKind: widget, SearchedVersions: []string{"v1"}},
			want{health.Infrastructure, "KindNotServed", `The API server does not serve this kind: no matches for kind "Widget" in version "example.com/v1"`},
		},
		"429": {apierrors.NewTooManyRequests("slow down", 1), want{health.Infrastructure, "RateLimited", "slow down"}},
		"only a code": {
			status(503, "", ""), want{health.Infrastructure, "ServiceUnavailable", "the API server answered 503"},
		},
		"410": {
			status(410, "Expired", ""),
			want{health.Infrastructure, "Expired", "the API server answered 410 Expired"},
		},
		"unreachable webhook": {
			apierrors.NewInternalError(errors.New(`failed calling webhook "dead.example.com": failed to call webhook: ` +
				`Post "https://127.0.0.1:1/?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused`)),
			want{health.Infrastructure, "AdmissionWebhookFailed", `Internal error occurred: failed calling webhook "dead.example.com": ` +
				`failed to call webhook: Post "https://127.0.0.1:1/?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused`},
		},
		"webhook that fails": {
			status(503, "ServiceUnavailable", `admission webhook "w" denied the request: try later`),
			want{health.Infrastructure, "AdmissionWebhookDenied", `admission webhook "w" denied the request: try later`},
		},
		"object larger than the storage limit": {
			apierrors.NewInternalError(errors.New("etcdserver: request is too large")),
			want{health.ResourceExhaustion, "TooLarge", "Internal error occurred: etcdserver: request is too large"},
		},
		"credentials": {
			errors.New("dial postgres://admin:hunter2@db.tenant-a:5432: refused"),
			want{health.Unknown, "UnknownError", "dial postgres://***@db.tenant-a:5432: refused"},
		},
		"own port": {
			&net.OpError{
				Op: "read", Net: "tcp", Source: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 40123},
				Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 2), Port: 5432}, Err: os.NewSyscallError("read", syscall.ECONNRESET),
			},
			want{health.Infrastructure, "ConnectionReset", "read tcp 10.0.0.2:5432: read: connection reset by peer"},
		},
		"type not in the scheme": {
			fmt.Errorf("list: %w", runtime.NewNotRegisteredErrForKind("s", widget.WithVersion("v1"))),
			want{health.ProgramError, "KindNotInScheme", `list: no kind "Widget" is registered for version "example.com/v1" in scheme "s"` +
				": add the type to the manager's scheme"},
		},
		"unknown error":                              {errors.New("boom"), want{health.Unknown, "UnknownError", "boom"}},
		"truncated response":                         {io.ErrUnexpectedEOF, want{health.Infrastructure, "ConnectionReset", "unexpected EOF"}},
		"categorized error":                          {fmt.Errorf("apply: %w", typed{"Conflict"}), want{health.Conflict, "Kept", "apply: kept: shared object"}},
		"categorized error with an unknown category": {typed{"Odd"}, want{health.Unknown, "Kept", "kept: shared object"}},
		"category overrides the cause": {
			fmt.Errorf("x: %w", health.NewError(health.Auth, "R", "m", apierrors.NewNotFound(pods, "p"))), want{health.Auth, "R", "m"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := health.Categorize(tc.err)
			if diff := cmp.Diff(tc.want, want{got.Category, got.Reason, got.Message}); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			var known *health.Error
			if !errors.As(tc.err, &known) && !errors.Is(got, tc.err) {
				t.Errorf("the cause is not wrapped: %v", got.Cause)
			}
		})
	}
}
