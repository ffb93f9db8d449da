package problem_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/routing/internal/problem"
)

// The message contains the user's value, quoted and shortened.
func Example() {
	fmt.Println(problem.Invalid("PortInvalid", nil, "spec.port %s: use 1 to 65535", problem.Quote("99999")))
	// Output: PortInvalid: spec.port "99999": use 1 to 65535
}

func TestInvalid(t *testing.T) {
	t.Parallel()
	cause := errors.New("boom")
	err := problem.Invalid("R", cause, "value %d", 3)
	found := health.Categorize(err)
	if found.Category != health.InvalidSpec || found.Reason != "R" || found.Message != "value 3" || !errors.Is(err, cause) {
		t.Errorf("got %+v", found)
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                       `""`,
		"a \"b\"":                `"a \"b\""`,
		strings.Repeat("a", 256): `"` + strings.Repeat("a", 256) + `"`,
		"a\xffb":                 `"ab"`,
	} {
		if got := problem.Quote(text); got != want {
			t.Errorf("Quote(%q) = %s, want %s", text, got, want)
		}
	}
}

func FuzzQuote(f *testing.F) {
	f.Add("", 10)
	f.Add(strings.Repeat("é\n", 400), 128)
	f.Add(strings.Repeat("\x00", 400), 16)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = max(min(limit, 1<<10), 0)
		got := problem.QuoteAtMost(text, limit)
		if len(got) > limit+len(`"..."`) || !utf8.ValidString(got) {
			t.Errorf("%q becomes %s, %d bytes of %d", text, got, len(got), limit)
		}
		if short := problem.Shorten(text); len(short) > 2*problem.MaxQuoted || !utf8.ValidString(short) {
			t.Errorf("%q is shortened to %q", text, short)
		}
	})
}
