package environment_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// line returns a line of an audit log.
func line(id, stage, verb, uri, object string, code int) string {
	return fmt.Sprintf(`{"auditID":%q,"stage":%q,"verb":%q,"requestURI":%q,"user":{"username":"admin"},"objectRef":%s,"responseStatus":{"code":%d},`+
		`"requestReceivedTimestamp":"2026-01-01T00:00:00.000001Z","stageTimestamp":"2026-01-01T00:00:01Z"}`+"\n", id, stage, verb, uri, object, code)
}

const (
	pods = `{"resource":"pods","namespace":"shop","name":"web"}`
	done = "ResponseComplete"
)

// TestParseAuditEvent checks the user, the object and the response code of a parsed line.
func TestParseAuditEvent(t *testing.T) {
	t.Parallel()
	request := requests.Request{Verb: "get", Resource: "pods", Namespace: "shop", Name: "web"}
	for name, c := range map[string]struct {
		line string
		want func(e *environment.AuditEntry)
	}{
		"a read": {line("1", done, "get", "/api/v1/namespaces/shop/pods/web", pods, 200), func(*environment.AuditEntry) {}},
		"of a subresource in a group": {
			line("1", done, "patch", "/apis/apps/v1/x", `{"apiGroup":"apps","resource":"deployments","subresource":"status","namespace":"shop","name":"web"}`, 201),
			func(e *environment.AuditEntry) {
				e.Request = requests.Request{Verb: "patch", Group: "apps", Resource: "deployments", Subresource: "status", Namespace: "shop", Name: "web"}
				e.Code = 201
			},
		},
		"by a field manager, dry run": {
			line("1", done, "patch", "/api/v1/namespaces/shop/pods/web?fieldManager=me&dryRun=All&force=true", pods, 200),
			func(e *environment.AuditEntry) { e.Verb, e.FieldManager, e.DryRun = "patch", "me", true },
		},
		"a dry-run delete": {
			strings.Replace(line("1", done, "delete", "/api/v1/namespaces/shop/pods/web", pods, 200), `"verb"`, `"requestObject":{"dryRun":["All"]},"verb"`, 1),
			func(e *environment.AuditEntry) { e.Verb, e.DryRun = "delete", true },
		},
		"a delete": {
			strings.Replace(line("1", done, "delete", "/api/v1/namespaces/shop/pods/web", pods, 200), `"verb"`, `"requestObject":{"dryRun":[]},"verb"`, 1),
			func(e *environment.AuditEntry) { e.Verb = "delete" },
		},
		"a patch": {
			strings.Replace(line("1", done, "patch", "/api/v1/namespaces/shop/pods/web", pods, 200), `"verb"`, `"requestObject":{"dryRun":["All"]},"verb"`, 1),
			func(e *environment.AuditEntry) { e.Verb, e.Patch = "patch", `{"dryRun":["All"]}` },
		},
		"a patch that is not an object": {
			strings.Replace(line("1", done, "patch", "/api/v1/namespaces/shop/pods/web", pods, 200), `"verb"`, `"requestObject":[{"op":"test"}],"verb"`, 1),
			func(e *environment.AuditEntry) { e.Verb, e.Patch = "patch", `[{"op":"test"}]` },
		},
		"a watch": {
			line("1", done, "watch", "/api/v1/pods?watch=true", pods, 200), func(e *environment.AuditEntry) { e.Verb, e.Informer = "watch", true },
		},
		"a list of an informer": {
			line("1", done, "list", "/api/v1/pods?resourceVersion=0", pods, 200), func(e *environment.AuditEntry) { e.Verb, e.Informer = "list", true },
		},
		"a list of a client": {line("1", done, "list", "/api/v1/pods?limit=5", pods, 200), func(e *environment.AuditEntry) { e.Verb = "list" }},
		"of a version": {
			line("1", done, "get", "/api/v1/namespaces/shop/pods/web?resourceVersion=0", pods, 200), func(*environment.AuditEntry) {},
		},
		"of a namespace": {
			line("1", done, "get", "/api/v1/namespaces/shop", `{"resource":"namespaces","namespace":"shop","name":"shop"}`, 200),
			func(e *environment.AuditEntry) { e.Resource, e.Namespace, e.Name = "namespaces", "", "shop" },
		},
		"of no resource": {
			line("1", done, "get", "/version?timeout=1s", `{}`, 200), func(e *environment.AuditEntry) { e.Request = requests.Request{Verb: "get", Path: "/version"} },
		},
		"impersonated": {
			strings.Replace(line("1", done, "get", "/api/v1/namespaces/shop/pods/web", pods, 403), `"objectRef"`, `"impersonatedUser":{"username":"robot"},"objectRef"`, 1),
			func(e *environment.AuditEntry) { e.User, e.Code = "robot", 403 },
		},
		"refused": {
			strings.Replace(line("1", done, "get", "/api/v1/namespaces/shop/pods/web", pods, 403), `"code"`, `"message":"no right","code"`, 1),
			func(e *environment.AuditEntry) { e.Code, e.Message = 403, "no right" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := environment.AuditEntry{
				Request: request, User: "admin", Code: 200,
				Received: time.Date(2026, 1, 1, 0, 0, 0, 1000, time.UTC), Completed: time.Date(2026, 1, 1, 0, 0, 1, 0, time.UTC),
			}
			c.want(&want)
			got, err := environment.ParseAuditEvent([]byte(c.line))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestParseAuditEventErrors checks that the error for an invalid line contains the line.
func TestParseAuditEventErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"auditID":`:                      `parse "{\"auditID\":"`,
		`{"auditID":"7"}`:                  `parse requestURI of event "7"`,
		`{"auditID":"7","requestURI":"x"}`: `parse requestURI of event "7"`,
		`[]`:                               `parse "[]"`,
	} {
		if _, err := environment.ParseAuditEvent([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// logFile is an audit log to which tests append lines.
type logFile struct {
	t    *testing.T
	path string
	log  *environment.AuditLog
}

func newLogFile(t *testing.T) *logFile {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.log")
	return &logFile{t, path, environment.NewAuditLog(path)}
}

func (f *logFile) write(text string) {
	f.t.Helper()
	file, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.WriteString(text)
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *logFile) expect(want ...string) {
	f.t.Helper()
	entries, err := f.log.Entries()
	if err != nil {
		f.t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, fmt.Sprintf("%s %d", entry.Verb, entry.Code))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAuditLogGrows checks that each line of a growing log is read once, after it is complete.
func TestAuditLogGrows(t *testing.T) {
	t.Parallel()
	f := newLogFile(t)
	f.write("")
	f.expect()
	f.write(line("1", done, "get", "/a", pods, 200))
	f.expect("get 200")
	whole := line("2", done, "update", "/a", pods, 409)
	f.write(whole[:40])
	f.expect("get 200")
	f.write(whole[40:] + line("3", done, "create", "/a", pods, 201))
	f.expect("get 200", "update 409", "create 201")
	if err := f.log.Reset(); err != nil {
		t.Fatal(err)
	}
	f.expect()
	f.write(line("4", done, "delete", "/a", pods, 200))
	f.expect("delete 200")
	entries, err := f.log.Entries(environment.Asked(requests.Verb("get")))
	if err != nil || len(entries) != 0 {
		t.Errorf("filtered: %v, %v", entries, err)
	}
}

// TestAuditLogWatches checks that the start and the end of a watch are one entry, which a reset removes.
func TestAuditLogWatches(t *testing.T) {
	t.Parallel()
	f := newLogFile(t)
	begin := func(id string) string { return line(id, "ResponseStarted", "watch", "/a?watch=true", pods, 200) }
	end := func(id string) string { return line(id, done, "watch", "/a?watch=true", pods, 504) }
	f.write(begin("1"))
	f.expect("watch 200")
	f.write(line("2", done, "get", "/a", pods, 200) + end("1"))
	f.expect("watch 504", "get 200")
	f.write(begin("3"))
	if err := f.log.Reset(); err != nil {
		t.Fatal(err)
	}
	f.write(begin("4") + end("3"))
	f.expect("watch 200")
	f.write(end("4"))
	f.expect("watch 504")
}

// TestAuditLogErrors checks that the error for an invalid line contains its position, and the error for a missing log its likely cause.
func TestAuditLogErrors(t *testing.T) {
	t.Parallel()
	f := newLogFile(t)
	if _, err := f.log.Entries(); !errors.Is(err, environment.ErrNoAuditLog) || !strings.Contains(err.Error(), "the environment has stopped") {
		t.Errorf("without a file: %v", err)
	}
	good := line("1", done, "get", "/a", pods, 200)
	f.write(good + "broken\n")
	if _, err := f.log.Entries(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("at byte %d: parse \"broken\"", len(good))) {
		t.Errorf("a broken line: %v", err)
	}
	if err := f.log.Reset(); err == nil || errors.Is(err, environment.ErrNoAuditLog) {
		t.Errorf("reset: %v", err)
	}
}

// TestAuditLogAtOnce checks that concurrent readers read each line once.
func TestAuditLogAtOnce(t *testing.T) {
	t.Parallel()
	f := newLogFile(t)
	for n := range 20 {
		f.write(line(fmt.Sprint(n), done, "get", "/a", pods, 200))
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if entries, err := f.log.Entries(); err != nil || len(entries) != 20 {
				t.Errorf("%d entries, %v", len(entries), err)
			}
		})
	}
	wg.Wait()
}
