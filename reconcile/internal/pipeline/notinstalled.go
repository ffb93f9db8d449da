package pipeline

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
)

// withNotInstalled adds to components that are not ready, and whose message names one of the kinds, that the kind is not installed. Their
// messages may say only that the object does not exist, as if the operator would create it soon.
func withNotInstalled(components []health.Component, kinds []schema.GroupVersionKind) []health.Component {
	cloned := false
	for i := range components {
		c := &components[i]
		if len(kinds) == 0 || c.GetState() == health.Ready {
			continue
		}
		message := c.GetMessage()
		named := slices.DeleteFunc(slices.Clone(kinds), func(kind schema.GroupVersionKind) bool { return !strings.Contains(message, kind.Kind) })
		if len(named) == 0 {
			continue
		}
		if !cloned {
			components, cloned = slices.Clone(components), true // the author may keep the slice
		}
		components[i].Message = message + "; " + notInstalled(named)
	}
	return components
}

// nameNotInstalled adds to the summary of an owner that is not ready the kinds of children that were left out.
func nameNotInstalled(manager *conditions.Manager, kinds []schema.GroupVersionKind) {
	ready, found := manager.Get(conditions.Ready)
	if len(kinds) == 0 || !found || ready.Status == metav1.ConditionTrue || strings.Contains(ready.Message, notInstalled(kinds)) {
		return
	}
	announcement, _ := manager.Announcement(conditions.Ready)
	manager.Set(ready.Type, ready.Status, ready.Reason, ready.Message+"; "+notInstalled(kinds), announcement)
}

// notInstalled returns a sentence with the kinds.
func notInstalled(kinds []schema.GroupVersionKind) string {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = kind.Kind + " (" + kind.GroupVersion().String() + ")"
	}
	verb := " is"
	if len(names) > 1 {
		verb = " are"
	}
	return strings.Join(names, ", ") + verb + " not installed in the cluster"
}
