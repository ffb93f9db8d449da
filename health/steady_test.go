package health_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/health"
)

// TestMessagesStaySteady checks that two attempts with the same failure have the same message.
func TestMessagesStaySteady(t *testing.T) {
	t.Parallel()
	for name, tries := range map[string][2]string{
		"request id":           {"AccessDenied, RequestID: 3f1c-77", "AccessDenied, RequestID: 9a0e-12"},
		"request id in text":   {"denied (request id 3f1c77aa)", "denied (request id 9a0e12bb)"},
		"request id in JSON":   {`{"x-amz-request-id":"A1B2"}`, `{"x-amz-request-id":"C3D4"}`},
		"trace id":             {"failed, trace_id=4bf92f3577b34da6", "failed, trace_id=00f067aa0ba902b7"},
		"pointer":              {"unexpected value &{0xc000123456 1}", "unexpected value &{0xc000abcdef 1}"},
		"time with fraction":   {"2026-01-02T03:04:05.123Z refused", "2026-01-02T03:04:06.456Z refused"},
		"time of Go":           {"2026-01-02 03:04:05.123456 +0000 UTC m=+1.5 refused", "2026-01-02 03:04:06.5 +0000 UTC m=+2.5 refused"},
		"time after its label": {"failed at 2026-01-02T03:04:05Z", "failed at 2026-01-02T03:04:06Z"},
	} {
		if a, b := health.Categorize(errors.New(tries[0])).Message, health.Categorize(errors.New(tries[1])).Message; a != b {
			t.Errorf("%s: %q and %q differ", name, a, b)
		}
	}
	for _, fixed := range []string{
		"certificate has expired: it is after 2024-01-01T00:00:00Z", "request identity 5 is unknown", "mask 0xff is refused", "the server asked for id 42",
	} {
		if got := health.Categorize(errors.New(fixed)).Message; got != fixed {
			t.Errorf("got %q, want %q", got, fixed)
		}
	}
}

// TestLongErrors checks that the length of a response body in an error is limited, and that its credentials are not
// stored.
func TestLongErrors(t *testing.T) {
	t.Parallel()
	got := health.Categorize(errors.New("refused: password=hunter2 " + strings.Repeat("x ", 4<<20))).Message
	if len(got) > 1024 || strings.Contains(got, "hunter2") {
		t.Errorf("%d bytes: %.100s", len(got), got)
	}
}
