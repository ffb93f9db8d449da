package recording

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

const (
	secretKind = "v1/Secret"
	// lastApplied is where kubectl keeps a copy of what was applied.
	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
	// minCut is the shortest value that is cut out of texts: of shorter ones every text is full.
	minCut = 4
)

var placeholder = regexp.MustCompile(`^redacted-[0-9]+$`)

// redactor replaces values by placeholders, the same one for the same value.
type redactor struct {
	names map[string]string // by value
	next  int
}

func newRedactor(used int) *redactor { return &redactor{names: map[string]string{}, next: used + 1} }

// hide returns the placeholder of a value. What is nothing stays nothing.
func (r *redactor) hide(value string) string {
	if value == "" {
		return ""
	}
	if r.names[value] == "" {
		r.names[value] = fmt.Sprintf("redacted-%d", r.next)
		r.next++
	}
	return r.names[value]
}

// secret replaces the content of one Secret, in place.
func (r *redactor) secret(object map[string]any, keep func(value string) bool) {
	data, _ := object["data"].(map[string]any)
	for _, key := range sortedKeys(data) {
		encoded, _ := data[key].(string)
		value, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			value = []byte(encoded)
		}
		if !keep(string(value)) {
			data[key] = base64.StdEncoding.EncodeToString([]byte(r.hide(string(value))))
		}
	}
	plain, _ := object["stringData"].(map[string]any)
	for _, key := range sortedKeys(plain) {
		if value, _ := plain[key].(string); !keep(value) {
			plain[key] = r.hide(value)
		}
	}
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if value, ok := annotations[lastApplied].(string); ok && !keep(value) {
		annotations[lastApplied] = r.hide(value)
	}
}

// never and known are what redactor.secret keeps: nothing of what was read, and what is a placeholder already in a plan.
func never(string) bool       { return false }
func known(value string) bool { return placeholder.MatchString(value) }

// secrets replaces the content of a Secret or of a list of Secrets.
func (r *redactor) secrets(c jsonValue, keep func(string) bool) (jsonValue, error) {
	object, ok := c.tree().(map[string]any)
	if !ok {
		return c, nil
	}
	if items, list := object["items"].([]any); list {
		for _, item := range items {
			if one, ok := item.(map[string]any); ok {
				r.secret(one, keep)
			}
		}
	} else {
		r.secret(object, keep)
	}
	return content(object)
}

// redactReads replaces the content of Secrets in what the pass saw.
func (r *redactor) redactReads(rec *Recording) (err error) {
	for i := range rec.Reads {
		if read := &rec.Reads[i]; read.Kind == secretKind {
			if read.Object, err = r.secrets(read.Object, never); err != nil {
				return fmt.Errorf("redact %s: %w", read.query, err)
			}
		}
	}
	return nil
}

// redactPlan replaces the content of Secrets in the plan; placeholders that the phases have copied stay. The rules are the
// same when the pass is recorded and when it is replayed.
func redactPlan(rec *Recording) (*Recording, error) {
	used := 0
	if rec.Redacted != nil {
		used = rec.Redacted.Values
	}
	return rec, newRedactor(used).redactPlan(rec)
}

func (r *redactor) redactPlan(rec *Recording) (err error) {
	for i := range rec.Plan.Children {
		child := &rec.Plan.Children[i]
		if child.Kind == secretKind || isSecret(child.Object) {
			if child.Object, err = r.secrets(child.Object, known); err != nil {
				return fmt.Errorf("redact the planned %s: %w", child.Kind, err)
			}
		}
	}
	for i := range rec.Plan.Deletes {
		deletion := &rec.Plan.Deletes[i]
		if deletion.Kind == secretKind {
			if deletion.Object, err = r.secrets(deletion.Object, known); err != nil {
				return fmt.Errorf("redact the planned deletion of %s: %w", deletion.Kind, err)
			}
		}
	}
	return nil
}

// isSecret recognises generated configurations, whose Go type is not the kind.
func isSecret(c jsonValue) bool {
	object, _ := c.tree().(map[string]any)
	return object["kind"] == "Secret" && object["apiVersion"] == "v1"
}

// cutter cuts the values out of texts, longer ones first; nil when there are none.
func (r *redactor) cutter() *strings.Replacer {
	var values []string
	for value := range r.names {
		if len(value) >= minCut && !known(value) {
			values = append(values, value)
		}
	}
	if len(values) == 0 {
		return nil
	}
	slices.SortFunc(values, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	var pairs []string
	for _, value := range values {
		name := r.names[value]
		quoted, _ := json.Marshal(value) //nolint:errchkjson // a string, and how messages quote it
		pairs = append(pairs, value, name, strings.Trim(string(quoted), `"`), name,
			base64.StdEncoding.EncodeToString([]byte(value)), base64.StdEncoding.EncodeToString([]byte(name)))
	}
	return strings.NewReplacer(pairs...)
}

// cut cuts the values out of the answers: messages of the API server quote what they refuse.
func cut(rec *Recording, values *strings.Replacer) error {
	for i := range rec.Reads {
		if err := cutFrom(rec.Reads[i].Error, values); err != nil {
			return err
		}
	}
	for _, write := range []*ownerWrite{rec.Status, rec.Migrated} {
		if write != nil {
			if err := cutFrom(write.Error, values); err != nil {
				return err
			}
		}
	}
	if rec.Applied == nil {
		return nil
	}
	for i := range rec.Applied.Objects {
		if err := cutFrom(rec.Applied.Objects[i].Error, values); err != nil {
			return err
		}
	}
	if kept := rec.Applied.PruneBlocked; kept != nil {
		if err := cutFrom(kept.Cause, values); err != nil {
			return err
		}
	}
	return cutFrom(rec.Applied.OwnerError, values)
}

// cutFrom goes through all texts of an error.
func cutFrom(e *failure, values *strings.Replacer) error {
	if e == nil {
		return nil
	}
	data, err := content(e)
	if err != nil {
		return err
	}
	data, err = content(eachText(data.tree(), values.Replace))
	if err != nil {
		return err
	}
	*e = failure{}
	return json.Unmarshal(data, e)
}

// eachText replaces all texts of a tree, in place where it can.
func eachText(value any, replace func(string) string) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = eachText(v[key], replace)
		}
	case []any:
		for i := range v {
			v[i] = eachText(v[i], replace)
		}
	case string:
		return replace(v)
	}
	return value
}

// redacted is a recording in which nothing of a secret is left. What the phases make of secrets cannot be replaced value by
// value, because it may be a hash or a part of something else. So the pass is replayed with placeholders in the place of
// the secrets, and what comes of it is the recording.
func redacted[T reconcile.Owner, F, O any](
	ctx context.Context, config pipeline.Config[T, F, O], original *Recording, options ReplayOptions,
) (*Recording, error) {
	seen, err := original.clone()
	if err != nil {
		return nil, err
	}
	r := newRedactor(0)
	if err := r.redactReads(seen); err != nil {
		return nil, err
	}
	values := len(r.names)
	if err := r.redactPlan(original); err != nil { // from now on the recorded plan is not that of the pass
		return nil, err
	}
	cutter := r.cutter()
	if cutter == nil && values == 0 {
		return original, nil
	}
	if cutter != nil {
		if err := cut(seen, cutter); err != nil {
			return nil, err
		}
	}
	if values == 0 && sameAnswers(seen, original) {
		return original, nil // nothing of the plan's secrets came back
	}
	seen.Redacted = &redaction{Values: values}
	out, err := Replay(ctx, config, seen, options)
	if out == nil {
		return nil, fmt.Errorf("redact: %w", err) // reads that depend on a secret are part of what differs
	}
	if cutter == nil {
		cutter = strings.NewReplacer()
	}
	out.Redacted = &redaction{Values: values, Differs: differences(original, out, cutter.Replace)}
	return out, nil
}

func sameAnswers(a, b *Recording) bool {
	return len(differences(&Recording{pass{Reads: a.Reads, Applied: a.Applied, Status: a.Status, Migrated: a.Migrated}},
		&Recording{pass{Reads: b.Reads, Applied: b.Applied, Status: b.Status, Migrated: b.Migrated}},
		func(s string) string { return s })) == 0
}
