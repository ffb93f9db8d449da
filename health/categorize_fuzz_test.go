package health_test

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

func FuzzCategorize(f *testing.F) {
	f.Add(int32(422), "Invalid", `x "y" is invalid: z`, "spec.a", "b", uint8(0))
	f.Add(int32(403), "Forbidden", "exceeded quota", "", "", uint8(1))
	f.Add(int32(0), "", "", "", "", uint8(2))
	f.Fuzz(func(t *testing.T, code int32, reason, message, field, cause string, wrap uint8) {
		var err error = &apierrors.StatusError{ErrStatus: metav1.Status{
			Code: code, Reason: metav1.StatusReason(reason), Message: message,
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Field: field, Message: cause}}},
		}}
		switch wrap % 3 {
		case 1:
			err = fmt.Errorf("wrapped: %w", err)
		case 2:
			err = errors.Join(err, errors.New("other"))
		}
		e := health.Categorize(err)
		if e == nil || e.Reason == "" || !errors.Is(e, err) {
			t.Fatalf("categorised as %#v", e)
		}
		if again := health.Categorize(fmt.Errorf("again: %w", e)); again != e {
			t.Errorf("%v was categorised again as %v", e, again)
		}
	})
}
