package routing

import (
	"errors"
	"fmt"
	"strings"
	"time"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/routing/internal/problem"
)

// Limits of a Gateway API duration: ^([0-9]{1,5}(h|m|s|ms)){1,4}$ (GEP-2257).
const (
	maxTimeoutDigits = 5
	maxTimeoutGroups = 4
	maxTimeoutHours  = 99999
)

// reasonTimeoutInvalid is the reason of errors about timeouts that a Gateway API duration cannot express.
const reasonTimeoutInvalid = "TimeoutInvalid"

const timeoutAdvice = `write one to four whole numbers of at most five digits, each with its unit h, m, s or ms, such as "30s" or "1m30s" (GEP-2257)`

// ParseTimeout parses a Gateway API duration by the pattern of GEP-2257: no sign, no fraction, no other unit, and "0s" rather than "0".
// The result is at most 399996h. Errors are of category InvalidSpec, reason "TimeoutInvalid".
func ParseTimeout(value string) (time.Duration, error) {
	total, err := parseGroups(value)
	if err != nil {
		return 0, problem.Invalid(reasonTimeoutInvalid, err, "timeout %s: %v: %s", problem.Quote(value), err, timeoutAdvice)
	}
	return total, nil
}

func parseGroups(value string) (time.Duration, error) {
	if value == "" {
		return 0, errors.New("it is empty")
	}
	var total time.Duration
	for groups, rest := 0, value; rest != ""; groups++ {
		if groups == maxTimeoutGroups {
			return 0, fmt.Errorf("more than %d numbers", maxTimeoutGroups)
		}
		number, digits := 0, 0
		for digits < len(rest) && '0' <= rest[digits] && rest[digits] <= '9' {
			if digits == maxTimeoutDigits {
				return 0, fmt.Errorf("a number of more than %d digits", maxTimeoutDigits)
			}
			number = number*10 + int(rest[digits]-'0')
			digits++
		}
		if digits == 0 {
			return 0, errors.New("a whole number is missing")
		}
		unit, length := timeoutUnit(rest[digits:])
		if length == 0 {
			return 0, fmt.Errorf("the unit after %d is missing or unknown", number)
		}
		total += time.Duration(number) * unit
		rest = rest[digits+length:]
	}
	return total, nil
}

// timeoutUnit parses the unit at the start of s; length is 0 if there is none.
func timeoutUnit(s string) (unit time.Duration, length int) {
	switch {
	case strings.HasPrefix(s, "ms"):
		return time.Millisecond, 2
	case strings.HasPrefix(s, "h"):
		return time.Hour, 1
	case strings.HasPrefix(s, "m"):
		return time.Minute, 1
	case strings.HasPrefix(s, "s"):
		return time.Second, 1
	}
	return 0, 0
}

// FormatTimeout formats a duration for the Gateway API (GEP-2257) without loss: hours, minutes and seconds as [time.Duration] prints
// them, milliseconds as a separate number ("1m30s", "1h0m0s", "1s500ms", "0s"). A negative duration, a fraction of a millisecond, and
// more than 99999 hours are errors of category InvalidSpec, reason "TimeoutInvalid".
func FormatTimeout(d time.Duration) (gatewayv1.Duration, error) { return formatTimeout("timeout", d) }

// formatTimeout is [FormatTimeout] with the name of the field.
func formatTimeout(field string, d time.Duration) (gatewayv1.Duration, error) {
	var fault string
	switch {
	case d < 0:
		fault = "it is negative: use 0s for no timeout"
	case d%time.Millisecond != 0:
		fault = "it is finer than a millisecond: round it to whole milliseconds"
	case d >= (maxTimeoutHours+1)*time.Hour:
		fault = fmt.Sprintf("it is longer than a Gateway API duration holds: use less than %dh, or 0s for no timeout", maxTimeoutHours+1)
	}
	if fault != "" {
		return "", problem.Invalid(reasonTimeoutInvalid, nil, "%s %s: %s", field, problem.Quote(d.String()), fault)
	}
	whole, milliseconds := d.Truncate(time.Second), (d%time.Second)/time.Millisecond
	text := ""
	if whole > 0 || milliseconds == 0 {
		text = whole.String()
	}
	if milliseconds > 0 {
		text += fmt.Sprintf("%dms", milliseconds)
	}
	return gatewayv1.Duration(text), nil
}
