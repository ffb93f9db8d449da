package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// lines returns level and message of each JSON line, and other lines unchanged.
func lines(text string) (found []string) {
	for line := range strings.Lines(text) {
		var entry struct{ Level, Msg, Stacktrace string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			entry.Msg = line
		}
		stack := ""
		if entry.Stacktrace != "" {
			stack = " with stack"
		}
		found = append(found, entry.Level+": "+entry.Msg+stack)
	}
	return found
}

// TestLogs checks that lines without content are dropped, and that calls that the end of the process canceled are not errors.
func TestLogs(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	l := newLogs(ctx, zap.Options{}, &out)
	write := fmt.Errorf("patch services: %w", &url.Error{Op: "Patch", URL: "https://x", Err: context.Canceled})
	probes := l.WithName("controller-runtime").WithName("healthz")
	probes.Info("healthz check failed", "statuses", []any{struct{}{}})
	probes.Info("another line")
	l.Info("healthz check failed")
	l.Error(write, "before the end")
	cancel()
	l.WithValues("a", "b").Error(write, "after the end")
	l.Error(errors.New("forbidden"), "another error")
	l.last("test", errors.New("lost"))
	l.Error(errors.New("late"), "after the last line")
	want := []string{
		"info: another line", "info: healthz check failed", "error: before the end with stack", "info: after the end", "error: another error with stack",
		"error: the operator ends",
	}
	if diff := cmp.Diff(want, lines(out.String())); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// TestLogLevel checks that the level can be read and set at run time, with the same values as the flag.
func TestLogLevel(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := newLogs(t.Context(), zap.Options{Development: true}, &out)
	for _, c := range []struct {
		method, body string
		status       int
		want         string
		shown        int // number of shown lines, of one each with the levels 0, 1 and 5
	}{
		{http.MethodGet, "", http.StatusOK, "debug\n", 2},
		{http.MethodPut, "info\n", http.StatusOK, "info\n", 1},
		{http.MethodPut, "5", http.StatusOK, "5\n", 3},
		{http.MethodGet, "", http.StatusOK, "5\n", 3},
		{http.MethodPut, "loud", http.StatusBadRequest, "want debug, info, error, panic, or a number above 0 for more detail\n", 3},
		{http.MethodPut, "error", http.StatusOK, "error\n", 0},
	} {
		answer := httptest.NewRecorder()
		l.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), c.method, LogLevelPath, strings.NewReader(c.body)))
		if answer.Code != c.status || answer.Body.String() != c.want {
			t.Errorf("%s %q: %d %q, want %d %q", c.method, c.body, answer.Code, answer.Body, c.status, c.want)
		}
		out.Reset()
		for _, level := range []int{0, 1, 5} {
			l.V(level).Info("a line")
		}
		if got := strings.Count(out.String(), "a line"); got != c.shown {
			t.Errorf("%s %q: %d lines are shown, want %d", c.method, c.body, got, c.shown)
		}
	}
}

// TestFlagsOfCommands checks that -h of a command lists the flags that it uses.
func TestFlagsOfCommands(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ has, hasNot string }{
		"explain":  {"-token-file", "-leader-elect"},
		"preview":  {"-kubeconfig", "-metrics-bind-address"},
		"describe": {"-namespaces", "-zap-log-level"},
		"run":      {"-zap-log-level", "-token-file"},
		"version":  {"Flags of version", "-kubeconfig"},
	} {
		var out strings.Builder
		if err := (Operator{Name: "test"}).Run(t.Context(), []string{name, "-h"}, &out, &out); err != nil {
			t.Fatal(err)
		}
		if text := out.String(); !strings.Contains(text, c.has) || strings.Contains(text, c.hasNot) {
			t.Errorf("%s -h: want %s and not %s in:\n%s", name, c.has, c.hasNot, text)
		}
	}
}

// TestVersion checks that the command version works without controllers.
func TestVersion(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"version"}, {"-version"}, {"--version"}} {
		var out strings.Builder
		if err := (Operator{Name: "test", Version: "v1.2.3"}).Run(t.Context(), args, &out, &out); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), "test v1.2.3 (revision ") {
			t.Errorf("%v prints %q", args, out.String())
		}
	}
}

// TestLostLease checks the reported reason for the loss of the lease.
func TestLostLease(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		err    error
		want   string
	}{
		"no answer": {0, errors.New("connection refused"), "the lease was not renewed within 10s (flag -leader-election-renew-deadline): connection refused"},
		"refused":   {http.StatusForbidden, nil, "the lease was not renewed within 10s (flag -leader-election-renew-deadline): the API server answers 403"},
		"taken":     {http.StatusConflict, nil, "another process has the lease"},
		"renewed":   {http.StatusOK, nil, "another process has the lease"},
	} {
		var l leaseRequests
		l.note(&http.Response{StatusCode: c.status, Status: strconv.Itoa(c.status)}, c.err)
		if got := l.why(standardLease()).Error(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
