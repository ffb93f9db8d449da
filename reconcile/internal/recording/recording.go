package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// version is that of the form of recordings.
	version = 1
	// maxRecording bounds what [answeredRead] takes in: 64 MiB.
	maxRecording = 64 << 20
)

// Recording is one pass: what it saw, what it decided, and what became of that. Its JSON form, which [Recording.Encode] writes and [Decode]
// reads, is stable; it is for people and for [Replay].
type Recording struct{ pass }

// pass is the form of a recording.
type pass struct {
	// Version is that of the form.
	Version int `json:"version"`
	// Controller is the name of the controller.
	Controller string `json:"controller"`
	// Request names the owner.
	Request objectKey `json:"request"`
	// Now is the time of the pass.
	Now utcTime `json:"now"`
	// Redacted reports what is hidden; nil is nothing.
	Redacted *redaction `json:"redacted,omitempty"`
	// Owner is the owner as the cache had it.
	Owner jsonValue `json:"owner"`
	// Reads are the reads of FetchRemoteState with their answers, sorted; equal ones in the order in which they came.
	Reads []answeredRead `json:"reads"`
	// Migrated is the write of an owner in an older form; the pass ends with it.
	Migrated *ownerWrite `json:"migrated,omitempty"`
	// Plan is what PlanResources, or Finalize, returned.
	Plan passPlan `json:"plan"`
	// Components are what GetComponentHealth returned.
	Components []partHealth `json:"components,omitempty"`
	// Applied is what became of the plan; nil when nothing was applied.
	Applied *appliedPlan `json:"applied,omitempty"`
	// Status is the write of the status, nil when the pass came to none.
	Status *ownerWrite `json:"status,omitempty"`
	// Conditions are those of the owner after the pass.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Announced are conditions of earlier passes that the owner's type does not keep.
	Announced []metav1.Condition `json:"announced,omitempty"`
	// Events are what was announced.
	Events []announcement `json:"events,omitempty"`
	// passOutcome is what comes next.
	Outcome passOutcome `json:"outcome"`
}

// objectKey names an object.
type objectKey struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// redaction reports what a recording hides.
type redaction struct {
	// Values is the number of different values of secrets that were replaced in what the pass saw.
	Values int `json:"values"`
	// Differs are the places where the real pass came to something else, because that depends on a secret. The recording has
	// what follows from the placeholders.
	Differs []string `json:"differs,omitempty"`
}

// query is what was asked for.
type query struct {
	// Verb is "get" or "list".
	Verb string `json:"verb"`
	// Kind is the kind of the object, or of the items of the list, as "group/version/Kind".
	Kind string `json:"kind"`
	// As is "metadata" or "unstructured"; empty is a Go type.
	As string `json:"as,omitempty"`
	// Namespace and Name are those of the object; a list has the namespace, or none for all.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	// Labels and Fields are the selectors of a list.
	Labels string `json:"labels,omitempty"`
	Fields string `json:"fields,omitempty"`
	// Limit and Continue are those of a list in pages.
	Limit    int64  `json:"limit,omitempty"`
	Continue string `json:"continue,omitempty"`
}

// Version is the API version of the kind, "" when the kind is a Go type.
func (q query) Version() string {
	parts := strings.Split(q.Kind, "/")
	if len(parts) < 2 { //nolint:mnd // v1/ConfigMap, apps/v1/Deployment
		return ""
	}
	return parts[len(parts)-2]
}

// String names the read, for example "get v1/ConfigMap shop/web".
func (q query) String() string {
	text := q.Verb + " " + q.Kind
	if q.As != "" {
		text += " as " + q.As
	}
	switch {
	case q.Name != "" && q.Namespace != "":
		text += " " + q.Namespace + "/" + q.Name
	case q.Name != "":
		text += " " + q.Name
	case q.Namespace != "":
		text += " in " + q.Namespace
	}
	if q.Labels != "" {
		text += " where " + q.Labels
	}
	if q.Fields != "" {
		text += " where the field " + q.Fields
	}
	if q.Limit != 0 || q.Continue != "" {
		text += fmt.Sprintf(" (%d from %q)", q.Limit, q.Continue)
	}
	return text
}

// answeredRead is one read and its answer: an object, a list, or an error.
type answeredRead struct {
	query

	Object jsonValue `json:"object,omitzero"`
	Error  *failure  `json:"error,omitempty"`
}

// ownerWrite is a write of the owner: what it made of it, and the answer.
type ownerWrite struct {
	// Object is the status without its conditions, or the whole owner in its current form.
	Object jsonValue `json:"object,omitzero"`
	// Managed are the types of the conditions that are the controller's.
	Managed []string `json:"managed,omitempty"`
	// Written reports that something was written.
	Written bool `json:"written"`
	// Error is why the write failed.
	Error *failure `json:"error,omitempty"`
}

// announcement is what was announced about the owner.
type announcement struct {
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// passOutcome is what a pass has to say about what comes next. Errors are texts.
type passOutcome struct {
	// State is that of the owner, Blocked why nothing was applied.
	State   string `json:"state,omitempty"`
	Blocked string `json:"blocked,omitempty"`
	// Retry and Terminal are the errors of the pass, by whether trying again may help.
	Retry    []string `json:"retry,omitempty"`
	Terminal []string `json:"terminal,omitempty"`
	// RequeueAfter is when another pass is planned.
	RequeueAfter textDuration `json:"requeueAfter,omitzero"`
}

// Encode returns the JSON of the recording, the same bytes for the same content.
func (r *Recording) Encode() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r); err != nil {
		return nil, fmt.Errorf("encode the recording of %s: %w", r.Controller, err)
	}
	return out.Bytes(), nil
}

// clone is a deep copy.
func (r *Recording) clone() (*Recording, error) {
	data, err := r.Encode()
	if err != nil {
		return nil, err
	}
	return Decode(bytes.NewReader(data))
}

// Decode reads one recording, of at most 64 MiB. It fails for another version of the form, for unknown fields and for
// anything after it.
func Decode(from io.Reader) (*Recording, error) {
	data, err := io.ReadAll(io.LimitReader(from, maxRecording+1))
	if err != nil {
		return nil, fmt.Errorf("read the recording: %w", err)
	}
	if len(data) > maxRecording {
		return nil, fmt.Errorf("read the recording: it has more than %d bytes", maxRecording)
	}
	var form struct{ Version int }
	if err := json.Unmarshal(data, &form); err != nil {
		return nil, fmt.Errorf("read the recording: %w", err)
	}
	if form.Version != version {
		return nil, fmt.Errorf("read the recording: version is %d, want %d: record the pass again", form.Version, version)
	}
	r := &Recording{}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(r); err != nil {
		return nil, fmt.Errorf("read the recording: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read the recording: there is something after it")
	}
	if r.Controller == "" || r.Request.Name == "" {
		return nil, errors.New("read the recording: controller and request.name are required")
	}
	return r, nil
}
