package environment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// AuditEntry is one request in the API server's audit log.
type AuditEntry struct {
	// Request is the request. Unlike in [Requests] its Verb is that of the API server's authorisation: a server-side apply is a patch. The
	// name of a created object is set only if the server knew it.
	requests.Request
	// User is the user for whom the request was authorised: the impersonated user, if there is one, for example
	// system:serviceaccount:shop:operator.
	User string
	// Code is the HTTP status of the response; 403 means a missing permission.
	Code int
	// Message is the server's message for a rejected request; empty otherwise.
	Message string
	// Patch is the body of a patch as JSON, if Environment.AuditPatches is set; empty otherwise.
	Patch string
	// Received is the time at which the request arrived, Completed that of the response, by the API server's clock, in microseconds. For an
	// open watch Completed is the time of its beginning.
	Received, Completed time.Time
}

// String returns the entry as one line for a failure message, for example
// `patch apps/deployments shop/web by admin: 200`.
func (e AuditEntry) String() string {
	return fmt.Sprintf("%s by %s: %d", e.Request, e.User, e.Code)
}

// AuditEntries are entries in the order of the log, which is the order of the responses.
type AuditEntries []AuditEntry

// Where returns the entries that match all filters, in order.
func (e AuditEntries) Where(filters ...func(AuditEntry) bool) AuditEntries {
	var kept AuditEntries

	for _, entry := range e {
		if !slices.ContainsFunc(filters, func(match func(AuditEntry) bool) bool { return !match(entry) }) {
			kept = append(kept, entry)
		}
	}

	return kept
}

// Requests returns the requests, for the filters of [Sent].
func (e AuditEntries) Requests() requests.Sent {
	sent := make(requests.Sent, 0, len(e))
	for _, entry := range e {
		sent = append(sent, entry.Request)
	}

	return sent
}

// String returns one line for each combination of request, user and code with its count, sorted, for failure messages. Without entries it
// returns "no requests".
func (e AuditEntries) String() string {
	if len(e) == 0 {
		return "no requests"
	}

	counts := make(map[string]int, len(e))
	for _, entry := range e {
		counts[entry.String()]++
	}

	lines := make([]string, 0, len(counts))
	for _, line := range slices.Sorted(maps.Keys(counts)) {
		lines = append(lines, fmt.Sprintf("%d %s", counts[line], line))
	}

	return strings.Join(lines, "\n")
}

// User returns a filter that matches the requests of one user.
func User(name string) func(AuditEntry) bool {
	return func(e AuditEntry) bool { return e.User == name }
}

// Asked returns a filter that matches entries by their request, with the filters of [Sent], for example Asked(Verb("create"),
// Resource("", "events")).
func Asked(filters ...func(requests.Request) bool) func(AuditEntry) bool {
	return func(e AuditEntry) bool {
		return !slices.ContainsFunc(filters, func(match func(requests.Request) bool) bool { return !match(e.Request) })
	}
}

// AuditLog reads the audit log of an [Environment]. It is safe for concurrent use. It includes every request whose response a client has
// received.
type AuditLog struct {
	path string

	mu      sync.Mutex
	offset  int64
	entries AuditEntries
	watches map[string]int // by audit ID: the index in entries, -1 if it was reset
}

// Entries returns the entries since the log began or the last Reset that match all filters.
func (l *AuditLog) Entries(filters ...func(AuditEntry) bool) (AuditEntries, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	if err := l.read(); err != nil {
		return nil, err
	}

	return l.entries.Where(filters...), nil
}

// Reset drops the entries so far, also watches that began so far and end later.
func (l *AuditLog) Reset() error {
	l.mu.Lock()
	defer l.mu.Unlock()

	if err := l.read(); err != nil {
		return err
	}

	l.entries = nil

	for id := range l.watches {
		l.watches[id] = -1
	}

	return nil
}

// read reads new lines. An incomplete line is left for the next call.
func (l *AuditLog) read() error {
	file, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: the environment has stopped", ErrNoAuditLog)
	}

	if err != nil {
		return fmt.Errorf("open the audit log: %w", err)
	}
	defer func() { _ = file.Close() }()

	data, err := io.ReadAll(io.NewSectionReader(file, l.offset, 1<<62))
	if err != nil {
		return fmt.Errorf("read the audit log: %w", err)
	}

	for {
		line, rest, complete := bytes.Cut(data, []byte("\n"))
		if !complete {
			return nil
		}

		if err := l.add(line); err != nil {
			return fmt.Errorf("audit log %s at byte %d: %w", l.path, l.offset, err)
		}

		l.offset += int64(len(line)) + 1
		data = rest
	}
}

// add adds the entry of one line. The two lines of a watch, for its beginning and its end, are one entry.
func (l *AuditLog) add(line []byte) error {
	event, err := parseAuditEvent(line)
	if err != nil {
		return err
	}

	entry := event.entry()

	if place, begun := l.watches[event.AuditID]; begun {
		delete(l.watches, event.AuditID)

		if place >= 0 {
			l.entries[place] = entry
		}

		return nil
	}

	if event.Stage == "ResponseStarted" {
		if l.watches == nil {
			l.watches = map[string]int{}
		}

		l.watches[event.AuditID] = len(l.entries)
	}

	l.entries = append(l.entries, entry)

	return nil
}

const verbPatch = "patch"

// auditEvent is the relevant part of an audit.k8s.io/v1 Event. https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/
type auditEvent struct {
	AuditID    string `json:"auditID"`
	Stage      string `json:"stage"`
	RequestURI string `json:"requestURI"`
	Verb       string `json:"verb"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	ImpersonatedUser struct {
		Username string `json:"username"`
	} `json:"impersonatedUser"`
	ObjectRef struct {
		APIGroup    string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
	RequestObject  json.RawMessage `json:"requestObject"`
	ResponseStatus struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"responseStatus"`
	RequestReceivedTimestamp time.Time `json:"requestReceivedTimestamp"`
	StageTimestamp           time.Time `json:"stageTimestamp"`

	uri *url.URL
}

// parseAuditEvent parses one line of an audit log.
func parseAuditEvent(line []byte) (*auditEvent, error) {
	event := &auditEvent{}
	if err := json.Unmarshal(line, event); err != nil {
		return nil, fmt.Errorf("parse %q: %w", line, err)
	}

	var err error
	if event.uri, err = url.ParseRequestURI(event.RequestURI); err != nil {
		return nil, fmt.Errorf("parse requestURI of event %q: %w", event.AuditID, err)
	}

	return event, nil
}

// entry converts the event to an entry.
func (e *auditEvent) entry() AuditEntry {
	query, object := e.uri.Query(), e.ObjectRef

	// A body that is not an options object, such as a JSON patch, has no options.
	var options struct {
		DryRun []string `json:"dryRun"`
	}

	_ = json.Unmarshal(e.RequestObject, &options)

	request := requests.Request{
		Verb: e.Verb, Group: object.APIGroup, Resource: object.Resource, Subresource: object.Subresource,
		Namespace: object.Namespace, Name: object.Name, FieldManager: query.Get("fieldManager"),
		DryRun:   query.Get("dryRun") == "All" || e.Verb != verbPatch && slices.Contains(options.DryRun, "All"),
		Informer: e.Verb == "watch" || e.Verb == "list" && query.Get("resourceVersion") != "",
	}

	// The path of a namespace has its name also as its namespace.
	if request.Resource == "namespaces" {
		request.Namespace = ""
	}

	if request.Resource == "" {
		request = requests.Request{Verb: e.Verb, Path: e.uri.Path}
	}

	user := e.ImpersonatedUser.Username
	if user == "" {
		user = e.User.Username
	}

	var patch string
	if e.Verb == verbPatch {
		patch = string(e.RequestObject)
	}

	return AuditEntry{
		Patch: patch, Request: request, User: user, Code: e.ResponseStatus.Code, Message: e.ResponseStatus.Message,
		Received: e.RequestReceivedTimestamp, Completed: e.StageTimestamp,
	}
}

// ErrNoAuditLog reports that there is no audit log to read. The wrapping error has the reason: the environment does not run, it uses an
// existing cluster, or [Environment.Audit] is not set.
var ErrNoAuditLog = errors.New("no audit log")
