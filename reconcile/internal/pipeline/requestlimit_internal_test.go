package pipeline

import (
	"context"
	"strings"
	"testing"
)

// TestLimit checks that reads use at most half of the limit, that writes can use the rest, and that the error names the limit.
func TestLimit(t *testing.T) {
	t.Parallel()
	const tries = 20
	for name, test := range map[string]struct {
		limit, reads, writes int // number of accepted reads and writes; reads are sent first
	}{
		"Even":     {limit: 10, reads: 5, writes: 5},
		"Odd":      {limit: 7, reads: 3, writes: 4},
		"Smallest": {limit: 1, reads: 1, writes: 0},
		"None":     {limit: -1, reads: tries, writes: tries},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := limitRequests(t.Context(), test.limit, "RequestsExceeded")
			try := func(send func(context.Context) error) (sent int) {
				for range tries {
					err := send(ctx)
					if err == nil {
						sent++
					} else if !strings.Contains(err.Error(), "Budget.MaxRequests") {
						t.Errorf("the error does not name the limit: %v", err)
					}
				}
				return sent
			}
			if reads, writes := try(CountRead), try(CountWrite); reads != test.reads || writes != test.writes {
				t.Errorf("%d reads and %d writes were sent, want %d and %d", reads, writes, test.reads, test.writes)
			}
		})
	}
}

// TestOutsideOfPasses checks that requests outside of reconciliations are not limited.
func TestOutsideOfPasses(t *testing.T) {
	t.Parallel()
	if CountRead(t.Context()) != nil || CountWrite(t.Context()) != nil {
		t.Error("a request outside of a pass was refused")
	}
}
