package routing_test

import (
	"math"
	"regexp"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/routing"
)

// gatewayDuration is the pattern of durations in the CRD.
var gatewayDuration = regexp.MustCompile(`^([0-9]{1,5}(h|m|s|ms)){1,4}$`)

func TestFormatTimeout(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		duration time.Duration
		want     string
		wantErr  string
	}{
		"zero":                   {want: "0s"},
		"a millisecond":          {duration: time.Millisecond, want: "1ms"},
		"seconds":                {duration: 30 * time.Second, want: "30s"},
		"a minute":               {duration: time.Minute, want: "1m0s"},
		"all units":              {duration: time.Hour + 2*time.Minute + 3*time.Second + 4*time.Millisecond, want: "1h2m3s4ms"},
		"hours and milliseconds": {duration: time.Hour + 4*time.Millisecond, want: "1h0m0s4ms"},
		"longest":                {duration: 100000*time.Hour - time.Millisecond, want: "99999h59m59s999ms"},
		"too long":               {duration: 100000 * time.Hour, wantErr: "use less than 100000h"},
		"largest time.Duration":  {duration: time.Duration(math.MaxInt64).Truncate(time.Millisecond), wantErr: "use less than 100000h"},
		"negative":               {duration: -time.Second, wantErr: "use 0s for no timeout"},
		"smallest time.Duration": {duration: math.MinInt64, wantErr: "negative"},
		"nanosecond":             {duration: time.Second + 1, wantErr: "whole milliseconds"},
		"half millisecond":       {duration: time.Millisecond / 2, wantErr: "whole milliseconds"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := routing.FormatTimeout(test.duration)
			checkOutcome(t, err, "TimeoutInvalid", test.wantErr)
			if string(got) != test.want {
				t.Errorf("FormatTimeout(%s) = %q, want %q", test.duration, got, test.want)
			}
			if err == nil && !gatewayDuration.MatchString(string(got)) {
				t.Errorf("%q does not match the pattern of the API", got)
			}
		})
	}
}

func TestParseTimeout(t *testing.T) {
	t.Parallel()
	for value, test := range map[string]struct {
		want    time.Duration
		wantErr string
	}{
		"0s":         {},
		"10m5ms":     {want: 10*time.Minute + 5*time.Millisecond},
		"5s1h":       {want: time.Hour + 5*time.Second},
		"00001s":     {want: time.Second},
		"1s1s1s1s":   {want: 4 * time.Second},
		"99999h":     {want: 99999 * time.Hour},
		"":           {wantErr: "it is empty"},
		"30":         {wantErr: "the unit after 30 is missing or unknown"},
		"1d":         {wantErr: "the unit after 1 is missing or unknown"},
		"100us":      {wantErr: "the unit after 100 is missing or unknown"},
		"-5s":        {wantErr: "a whole number is missing"},
		" 5s":        {wantErr: "a whole number is missing"},
		"5s ":        {wantErr: "a whole number is missing"},
		"100000h":    {wantErr: "more than 5 digits"},
		"1s1s1s1s1s": {wantErr: "more than 4 numbers"},
	} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			got, err := routing.ParseTimeout(value)
			checkOutcome(t, err, "TimeoutInvalid", test.wantErr)
			if got != test.want {
				t.Errorf("ParseTimeout(%q) = %s, want %s", value, got, test.want)
			}
		})
	}
}
