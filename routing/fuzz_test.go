package routing_test

import (
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/routing"
)

// FuzzParseTimeout checks that exactly the pattern of the API is accepted, and that a parsed value can be formatted and
// parsed again.
func FuzzParseTimeout(f *testing.F) {
	for _, seed := range []string{"", "0s", "30s", "1h30m", "5ms", "1m5s", "99999h99999h99999h99999h", "1.5s", "-1s", "100000h", "1s1s1s1s1s", "1", "s", "1M", "٣s"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		duration, err := routing.ParseTimeout(value)
		if matches := gatewayDuration.MatchString(value); matches != (err == nil) {
			t.Fatalf("ParseTimeout(%q): error %v, but the pattern says %t", value, err, matches)
		}
		if err != nil {
			checkOutcome(t, err, "TimeoutInvalid", "timeout")
			return
		}
		if want, err := time.ParseDuration(value); err != nil || want != duration {
			t.Errorf("ParseTimeout(%q) = %s, the standard library returns %s, %v", value, duration, want, err)
		}
		text, err := routing.FormatTimeout(duration)
		if err != nil {
			if duration < 100000*time.Hour {
				t.Errorf("FormatTimeout(%s): %v", duration, err)
			}
			return
		}
		if back, err := routing.ParseTimeout(string(text)); err != nil || back != duration {
			t.Errorf("%s is formatted as %q and parsed as %s, %v", duration, text, back, err)
		}
	})
}
