package world

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// State is what a world holds, in a form that two runs of the same system can be compared in: the content of each object
// by its name, without what the server sets and what only tells when something happened.
type State map[string]map[string]any

// Diff returns the difference between two states, "-" for want and "+" for got, or "" when there is none.
func (s State) Diff(got State) string {
	return gocmp.Diff(s, got)
}

// Clone returns a copy that shares nothing.
func (s State) Clone() State {
	out := State{}
	for name, content := range s {
		out[name], _ = clone(content).(map[string]any)
	}
	return out
}

func clone(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, v := range value {
			out[key] = clone(v)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for n, v := range value {
			out[n] = clone(v)
		}
		return out
	}
	return value
}

// State is the world as it is now.
func (w *World) State() (State, error) {
	all, err := w.All()
	if err != nil {
		return nil, err
	}
	names := w.Identities(all)
	twins := map[string][]map[string]any{}
	for gvk, items := range all {
		for key, u := range items {
			if w.System.Normalise != nil {
				u = u.DeepCopy()
				w.System.Normalise(u)
			}
			content, _ := Normalise(u, names).(map[string]any)
			if gvk.GroupKind() == (schema.GroupKind{Kind: "Service"}) {
				HideDrawn(content)
			}
			name := w.DisplayName(gvk, key, u)
			twins[name] = append(twins[name], content)
		}
	}
	out := State{}
	for name, contents := range twins {
		slices.SortFunc(contents, func(a, b map[string]any) int { return strings.Compare(Printed(a), Printed(b)) })
		out[name] = contents[0]
		for n, content := range contents[1:] {
			out[fmt.Sprintf("%s (%d)", name, n+2)] = content //nolint:mnd // people count from one
		}
	}
	return out, nil
}

// HideDrawn hides the addresses and ports of a Service that the server draws when it is made.
func HideDrawn(service map[string]any) {
	spec, _ := service["spec"].(map[string]any)
	if ip := spec["clusterIP"]; ip != nil && ip != "" && ip != "None" {
		spec["clusterIP"] = "drawn"
		delete(spec, "clusterIPs")
	}
	for _, port := range objects.Maps(spec, "ports") {
		if port["nodePort"] != nil {
			port["nodePort"] = "drawn"
		}
	}
}

// Printed orders twins, the objects of one generated name.
func Printed(content map[string]any) string {
	data, err := json.Marshal(content)
	if err != nil {
		return ""
	}
	return string(data)
}

// SpecOf is what an operator decides about an object: all but its status and metadata.
func SpecOf(content map[string]any) map[string]any {
	return objects.Without(content, "status", "metadata")
}

// DisplayName hides what was drawn at random of a name: by the server of a generated one, or by the operator.
func (w *World) DisplayName(gvk schema.GroupVersionKind, key types.NamespacedName, u *unstructured.Unstructured) string {
	if generate := u.GetGenerateName(); generate != "" && strings.HasPrefix(key.Name, generate) {
		key.Name = generate + "*"
	} else {
		key.Name, _ = w.System.Names.Of(gvk.GroupKind(), key)
	}
	return objects.Name(gvk, key)
}

// Identities are the texts by which objects are known that differ from run to run.
type Identities struct {
	// Texts are UIDs and names that were drawn, with what stands for them wherever they are in a text.
	Texts map[string]string
	// Drawn is what was drawn of such a name, which a field may hold alone.
	Drawn map[string]bool
}

// Add notes the UID of an object.
func (i Identities) Add(uid types.UID, display string) {
	i.Texts[string(uid)] = "<uid of " + display + ">"
}

// Identities are those of the objects.
func (w *World) Identities(all map[schema.GroupVersionKind]Snapshot) Identities {
	out := Identities{Texts: map[string]string{}, Drawn: map[string]bool{}}
	for gvk, items := range all {
		for key, u := range items {
			out.Add(u.GetUID(), w.DisplayName(gvk, key, u))
			if name, drawn := w.System.Names.Of(gvk.GroupKind(), key); drawn != "" {
				out.Texts[key.Name], out.Drawn[drawn] = name, true
			}
		}
	}
	return out
}

// serverSet are the fields of the metadata that the server sets or that depend on how often something was written.
func serverSet() []string {
	return []string{
		"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink",
		"deletionGracePeriodSeconds",
	}
}

// Normalise copies the content of an object without what differs from run to run.
func Normalise(u *unstructured.Unstructured, names Identities) any {
	content := u.DeepCopy().Object
	if metadata, ok := content["metadata"].(map[string]any); ok {
		for _, field := range serverSet() {
			delete(metadata, field)
		}
		for _, field := range []string{"annotations", "labels"} { // none and an empty one are the same to a server
			if entries, ok := metadata[field].(map[string]any); ok && len(entries) == 0 {
				delete(metadata, field)
			}
		}
		if _, deleting := metadata["deletionTimestamp"]; deleting {
			metadata["deletionTimestamp"] = "set"
		}
		if generate := u.GetGenerateName(); generate != "" {
			metadata["name"] = generate + "*"
		}
	}
	if status, ok := content["status"].(map[string]any); ok {
		hideTimes(status)
	}
	return scrub(content, u.GetGeneration(), newReplacer(names))
}

// hideTimes replaces the times in a status, which tell when something happened.
func hideTimes(value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if text, ok := inner.(string); !ok {
				hideTimes(inner)
			} else if _, err := time.Parse(time.RFC3339, text); err == nil {
				v[key] = "set"
			}
		}
	case []any:
		for _, inner := range v {
			hideTimes(inner)
		}
	}
}

// replacer puts what stands for identities in their place.
type replacer struct {
	texts *strings.Replacer
	drawn map[string]bool
}

// currentGeneration stands for the generation of the object itself.
const currentGeneration = "current"

func newReplacer(names Identities) replacer {
	pairs := make([]string, 0, 2*len(names.Texts))
	for _, text := range slices.SortedFunc(maps.Keys(names.Texts), func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(a, b)) // a name may begin with another one
	}) {
		if text != "" {
			pairs = append(pairs, text, names.Texts[text])
		}
	}
	return replacer{strings.NewReplacer(pairs...), names.Drawn}
}

// keys puts what stands for names that were drawn in their place among the keys of a map.
func (r replacer) keys(content map[string]any) {
	if len(r.drawn) == 0 {
		return
	}
	for _, key := range slices.Collect(maps.Keys(content)) {
		if as := r.Replace(key); as != key {
			content[as] = content[key]
			delete(content, key)
		}
	}
}

// Replace returns a text without identities.
func (r replacer) Replace(text string) string {
	if r.drawn[text] {
		return "*"
	}
	return r.texts.Replace(text)
}

// scrub replaces identities by what stands for them, times by "set", the current generation by "current", and sorts conditions by type.
func scrub(value any, generation int64, names replacer) any {
	switch v := value.(type) {
	case map[string]any:
		for k, inner := range v {
			switch {
			case k == "observedGeneration" && inner == generation:
				v[k] = currentGeneration
			case isTime(k, inner):
				v[k] = "set"
			default:
				v[k] = scrub(inner, generation, names)
			}
		}
		names.keys(v)
	case []any:
		for i := range v {
			v[i] = scrub(v[i], generation, names)
		}
		return conditionsOf(v)
	case string:
		return names.Replace(v)
	}
	return value
}

// isTime recognises the fields in which statuses say when something happened.
func isTime(key string, value any) bool {
	text, ok := value.(string)
	if !ok || len(text) < len("2006-01-02T15:04:05Z") || text[4] != '-' {
		return false
	}
	if (strings.HasSuffix(key, "Time") || strings.HasSuffix(key, "Timestamp")) && strings.HasSuffix(text, "Z") {
		return true
	}
	at, err := time.Parse(time.RFC3339, text)
	return err == nil && time.Since(at).Abs() < time.Hour // the real time, which is not that of the test
}

// conditionsOf sorts a list of conditions by type and leaves out those that only tell that a failure is over: the SDK adds
// them with the first failure of their kind (see the package health), so they tell how the end was reached.
func conditionsOf(list []any) []any {
	out := make([]any, 0, len(list))
	for _, element := range list {
		m, ok := element.(map[string]any)
		if !ok || m["type"] == nil || m["status"] == nil {
			return list
		}
		if m["status"] == "True" && slices.Contains(passing(), fmt.Sprint(m["type"])) {
			continue
		}
		out = append(out, element)
	}
	slices.SortStableFunc(out, func(a, b any) int {
		return strings.Compare(fmt.Sprint(a.(map[string]any)["type"]), fmt.Sprint(b.(map[string]any)["type"])) //nolint:forcetypeassert // checked above
	})
	return out
}

func passing() []string {
	return []string{health.DependenciesReachable, health.AuthValid, health.ConfigValid}
}
