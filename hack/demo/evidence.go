package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// evidence is the information about a failure from outside.
type evidence struct {
	condition, event, log, metric, ready, explained string
}

// missing names the sources without information so far.
func (e evidence) missing() []string {
	var names []string

	for _, place := range []struct{ name, text string }{
		{"condition", e.condition}, {"event", e.event}, {"log", e.log}, {"metric", e.metric}, {"readyz", e.ready}, {"explain", e.explained},
	} {
		if place.text == "" {
			names = append(names, place.name)
		}
	}

	return names
}

// lines returns the sources, one per line.
func (e evidence) lines() []string {
	lines := []string{
		"condition  " + e.condition, "event      " + e.event, "log        " + e.log, "metric     " + e.metric, "readyz     " + e.ready,
	}

	for i, line := range strings.Split(strings.TrimSpace(e.explained), "\n") {
		name := "           "
		if i == 0 {
			name = "explain    "
		}

		lines = append(lines, name+line)
	}

	return lines
}

// fail causes the failure, shows the evidence, repairs the failure, and waits until the owners are ready again.
func (s *programs) fail(ctx context.Context, o options, p product, scene *scene, out *screen) error {
	failing, err := findFailure(o.fail)
	if err != nil {
		return err
	}

	out.step("failure: " + failing.say)

	v, err := pickVictim(ctx, scene)
	if err != nil {
		return err
	}

	v.rights = s.rights
	if v.badSpec, err = p.badSpecOf(v.owner); err != nil {
		return err
	}

	before, err := os.Stat(s.operator.log)
	if err != nil {
		return fmt.Errorf("find the operator's log: %w", err)
	}

	began := time.Now()

	repair, err := failing.cause(ctx, v)
	if err == nil {
		err = s.show(ctx, v, began, before.Size(), out)
	}

	if repair != nil {
		err = errors.Join(err, repair(context.WithoutCancel(ctx)))
	}

	if err != nil {
		return fmt.Errorf("failure %s: %w", o.fail, err)
	}

	out.step("the cause is removed")

	return follow(ctx, o.readyWithin, scene, out)
}

// show waits until all sources report the failure, a minute at most.
func (s *programs) show(ctx context.Context, v *victim, began time.Time, offset int64, out *screen) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	for {
		seen, err := s.look(ctx, v, began, offset)
		if err == nil && len(seen.missing()) == 0 {
			out.say(fmt.Sprintf("seen after %s:", time.Since(began).Round(100*time.Millisecond)))

			for _, line := range seen.lines() {
				out.say("  " + line)
			}

			return nil
		}

		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("not visible within %s in: %s", patience, strings.Join(seen.missing(), ", ")), err)
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// look reads all sources.
func (s *programs) look(ctx context.Context, v *victim, began time.Time, offset int64) (e evidence, err error) {
	client, err := v.client.resource(v.owner.GroupVersionKind(), v.owner.GetNamespace())
	if err != nil {
		return e, err
	}

	owner, err := client.Get(ctx, v.owner.GetName(), metav1.GetOptions{})
	if err != nil {
		return e, err
	}

	for _, c := range conditionsOf(owner) {
		if c.Type == "Ready" && c.Status != "True" {
			e.condition = fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
		}
	}

	if e.condition == "" {
		return e, nil
	}

	if e.event, err = warning(ctx, v, began); err != nil {
		return e, err
	}

	if e.log, err = failureLine(s.operator.log, offset); err != nil {
		return e, err
	}

	metrics, err := s.operator.get(ctx, s.operator.metrics, "/metrics")
	if err != nil {
		return e, err
	}

	// A component's own findings are not errors of the reconciliation; the conditions count them.
	if e.metric = firstLine(metrics, "reconcilekit_errors_total{"); e.metric == "" {
		e.metric = firstLine(metrics, `reconcilekit_owners{condition="Ready",controller="`+controllerOf(metrics)+`",status="False"}`)
	}

	// An error of one owner does not affect the readiness of the process.
	if e.ready, err = s.operator.get(ctx, s.operator.probes, "/readyz"); err != nil {
		return e, err
	}

	query := url.Values{"kind": {owner.GetKind()}, "namespace": {owner.GetNamespace()}, "name": {owner.GetName()}}
	e.explained, err = s.operator.get(ctx, s.operator.metrics, "/debug/explain?"+query.Encode())

	return e, err
}

// warning returns the last warning about the owner since a time.
func warning(ctx context.Context, v *victim, since time.Time) (string, error) {
	client, err := v.client.resource(eventKind, v.owner.GetNamespace())
	if err != nil {
		return "", err
	}

	list, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}

	text, last := "", since.Truncate(time.Second)

	for i := range list.Items {
		field := func(path ...string) string {
			value, _, _ := unstructured.NestedString(list.Items[i].Object, path...)

			return value
		}

		at, _ := time.Parse(time.RFC3339Nano, field("eventTime"))
		if field("regarding", "uid") == string(v.owner.GetUID()) && field("type") == "Warning" && !at.Before(last) {
			text, last = field("type")+" "+field("reason")+": "+field("note"), at
		}
	}

	return text, nil
}

// failureLine returns the first line about a failure in the log after the offset.
func failureLine(file string, offset int64) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read the operator's log: %w", err)
	}

	for line := range strings.Lines(string(data[min(int(offset), len(data)):])) {
		if strings.Contains(line, `"level":"error"`) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), `,"stacktrace"`)

			return line, nil
		}
	}

	return "", nil
}

// firstLine returns the first line with the prefix.
func firstLine(text, prefix string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, prefix) {
			return strings.TrimSpace(line)
		}
	}

	return ""
}

// controllerOf returns the first controller with an owner that is not ready.
func controllerOf(metrics string) string {
	for line := range strings.Lines(metrics) {
		rest, found := strings.CutPrefix(line, `reconcilekit_owners{condition="Ready",controller="`)
		if name, status, _ := strings.Cut(rest, `"`); found && strings.HasPrefix(status, `,status="False"} `) {
			return name
		}
	}

	return ""
}

// get reads one of the program's URLs; a status other than 200 is part of the text.
func (p *program) get(ctx context.Context, address, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return "", err
	}

	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", fmt.Errorf("ask the operator for %s: %w", path, err)
	}
	defer response.Body.Close()

	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", fmt.Errorf("ask the operator for %s: %w", path, err)
	}

	if response.StatusCode != http.StatusOK {
		return response.Status + ": " + string(body), nil
	}

	return string(body), nil
}

// badSpecOf returns the product's patch for the owner, nil if there is none.
func (p product) badSpecOf(owner *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	file := filepath.Join(p.root, "examples", p.name, "demo", "bad-spec.yaml")
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		return nil, nil //nolint:nilnil // there is none
	}

	objects, err := readFile(file)
	if err != nil {
		return nil, err
	}

	at := slices.IndexFunc(objects, func(m manifest) bool { return title(m.object) == title(owner) })
	if at < 0 {
		return nil, nil //nolint:nilnil // it is for another owner
	}

	return objects[at].object, nil
}
