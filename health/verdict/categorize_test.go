package verdict_test

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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/reconcilekit/reconcilekit/health/verdict"
)

// typed is an error of another package that knows its category.
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
		Category        verdict.Category
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
			want{verdict.InvalidSpec, "InvalidSpec", "Resource specification is invalid: spec.size: Invalid value: -1: must be positive; " +
				"spec.name: Required value"},
		},
		"422 without causes": {
			status(422, "Invalid", `widgets "w" is invalid: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`),
			want{verdict.InvalidSpec, "InvalidSpec", `Resource specification is invalid: widgets "w" is invalid: ` +
				`ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`},
		},
		"422 about a second controller": {
			apierrors.NewInvalid(widget, "w", field.ErrorList{field.Invalid(field.NewPath("metadata", "ownerReferences"), nil,
				`Only one reference can have Controller set to true. Found "true" in references for A/a and B/b`)}),
			want{verdict.Conflict, "OwnedByAnother", `Widget.example.com "w" is invalid: metadata.ownerReferences: Invalid value: ` +
				`null: Only one reference can have Controller set to true. Found "true" in references for A/a and B/b`},
		},
		"409 about fields": {
			status(409, "Conflict", "Apply failed with 1 conflict", metav1.StatusCause{
				Type: metav1.CauseTypeFieldManagerConflict, Field: ".spec.replicas", Message: `conflict with "kubectl" using apps/v1`,
			}),
			want{verdict.Conflict, "FieldConflict", `Fields are owned by another manager: .spec.replicas: conflict with "kubectl" using apps/v1`},
		},
		"409 about a version": {
			apierrors.NewConflict(pods, "p", errors.New("modified")),
			want{verdict.Conflict, "Conflict", "Resource conflict - version mismatch or concurrent modification"},
		},
		"already exists": {
			apierrors.NewAlreadyExists(pods, "p"), want{verdict.Conflict, "AlreadyExists", "Resource already exists"},
		},
		"not found names the object": {
			fmt.Errorf("read: %w", apierrors.NewNotFound(pods, "p")),
			want{verdict.MissingDownstreamDependency, "NotFound", `Resource not found: pods "p"`},
		},
		"path that is not served": {
			status(404, "NotFound", "the server could not find the requested resource",
				metav1.StatusCause{Type: metav1.CauseTypeUnexpectedServerResponse, Message: "404 page not found"}),
			want{verdict.Infrastructure, "KindNotServed", "The API server does not serve this kind: the server could not find the requested resource"},
		},
		"403 by role": {
			apierrors.NewForbidden(pods, "", errors.New(`User "u" cannot list resource "pods"`)),
			want{verdict.Auth, "Forbidden", `Insufficient permissions to access resource: pods is forbidden: User "u" cannot list resource "pods"`},
		},
		"403 by quota": {
			apierrors.NewForbidden(pods, "p", errors.New("exceeded quota: small, requested: cpu=2")),
			want{verdict.ResourceExhaustion, "QuotaExceeded", `pods "p" is forbidden: exceeded quota: small, requested: cpu=2`},
		},
		"403 by a webhook": {
			status(403, "Forbidden", `admission webhook "w.example.com" denied the request: no label`),
			want{verdict.InvalidSpec, "AdmissionDenied", `admission webhook "w.example.com" denied the request: no label`},
		},
		"403 by pod security": {
			apierrors.NewForbidden(pods, "p", errors.New(`violates PodSecurity "restricted:latest": runAsNonRoot`)),
			want{verdict.InvalidSpec, "AdmissionDenied", `pods "p" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot`},
		},
		"403 by a namespace that goes": {
			status(403, "Forbidden", "x", metav1.StatusCause{Type: "NamespaceTerminating"}),
			want{verdict.Infrastructure, "NamespaceTerminating", "The namespace is being terminated"},
		},
		"400": {
			apierrors.NewBadRequest("unknown field spec.sise"),
			want{verdict.InvalidSpec, "ClientError", "Client error (4xx): unknown field spec.sise"},
		},
		"415": {status(415, "UnsupportedMediaType", ""), want{verdict.Unknown, "NotSupported", "The API server does not support this request (415)"}},
		"canceled": {
			fmt.Errorf("list: %w", context.Canceled), want{verdict.Infrastructure, "Canceled", "Request was canceled"},
		},
		"deadline inside a request": {
			&url.Error{Op: "Get", URL: "https://10.0.0.1", Err: context.DeadlineExceeded},
			want{verdict.Infrastructure, "Timeout", "Request timed out"},
		},
		"certificate": {
			&url.Error{Op: "Get", URL: "https://10.0.0.1", Err: &tls.CertificateVerificationError{Err: errors.New("unknown authority")}},
			want{verdict.Infrastructure, "CertificateInvalid", "The server's certificate cannot be verified"},
		},
		"other request": {
			&url.Error{Op: "Get", URL: "https://10.0.0.1:3245", Err: io.EOF},
			want{verdict.Infrastructure, "NetworkError", "Network operation failed: Get"},
		},
		"refused": {
			&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
			want{verdict.Infrastructure, "ConnectionRefused", "Connection refused - service may be down"},
		},
		"name that is not known": {
			&net.OpError{Op: "dial", Err: &net.DNSError{Name: "db.example.com", Err: "no such host"}},
			want{verdict.Infrastructure, "DNSFailure", "DNS resolution failed for db.example.com"},
		},
		"network": {
			&net.OpError{Op: "read", Err: errors.New("closed")}, want{verdict.Infrastructure, "NetworkError", "Network operation failed: read"},
		},
		"no route": {
			os.NewSyscallError("connect", syscall.EHOSTUNREACH),
			want{verdict.Infrastructure, "NetworkError", "Network operation failed: " + syscall.EHOSTUNREACH.Error()},
		},
		"kind that is not served": {
			&meta.NoKindMatchError{GroupKind: widget, SearchedVersions: []string{"v1"}},
			want{verdict.Infrastructure, "KindNotServed", `The API server does not serve this kind: no matches for kind "Widget" in version "example.com/v1"`},
		},
		"429": {apierrors.NewTooManyRequests("slow down", 1), want{verdict.Infrastructure, "RateLimited", "Too many requests - rate limited"}},
		"code alone": {
			status(503, "", ""), want{verdict.Infrastructure, "ServiceUnavailable", "Kubernetes API server unavailable or internal error"},
		},
		"410": {
			status(410, "Expired", ""),
			want{verdict.Infrastructure, "Expired", "The requested version is gone; the next read starts again"},
		},
		"nothing known":        {errors.New("boom"), want{verdict.Unknown, "UnknownError", "boom"}},
		"torn answer":          {io.ErrUnexpectedEOF, want{verdict.Infrastructure, "ConnectionReset", "Connection closed in the middle of an answer"}},
		"error that knows":     {fmt.Errorf("apply: %w", typed{"Conflict"}), want{verdict.Conflict, "Kept", "apply: kept: shared object"}},
		"error that knows odd": {typed{"Odd"}, want{verdict.Unknown, "Kept", "kept: shared object"}},
		"category beats cause": {
			fmt.Errorf("x: %w", verdict.NewError(verdict.Auth, "R", "m", apierrors.NewNotFound(pods, "p"))), want{verdict.Auth, "R", "m"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := verdict.Categorize(tc.err)
			if diff := cmp.Diff(tc.want, want{got.Category, got.Reason, got.Message}); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			var known *verdict.Error
			if !errors.As(tc.err, &known) && !errors.Is(got, tc.err) {
				t.Errorf("the cause is lost: %v", got.Cause)
			}
		})
	}
}
