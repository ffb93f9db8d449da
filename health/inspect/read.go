package inspect

import (
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/health"
)

// report is the part of any object's status that kstatus defines.
type report struct {
	kind              string
	group             string // empty if the object has no apiVersion
	generation        int64
	deleted           bool
	observed          int64 // status.observedGeneration
	reportsGeneration bool  // status.observedGeneration exists
	conditions        []metav1.Condition
}

// read reads the report of an unstructured or typed object. For a nil or unreadable object it returns a component instead.
func read(obj runtime.Object) (report, health.Component) {
	if isNil(obj) {
		return report{}, missing("ObjectNotFound", "Object")
	}
	var content map[string]any
	if u, ok := obj.(runtime.Unstructured); ok {
		content = u.UnstructuredContent()
	} else {
		converted, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		if err != nil {
			return report{}, unreadable(obj, err)
		}
		content = converted
	}
	r := readContent(content)
	if r.kind == "" {
		r.kind = kindOf(obj)
	}
	return r, health.Component{}
}

// isNil reports whether the interface is nil or contains a nil pointer.
func isNil(obj runtime.Object) bool {
	if obj == nil {
		return true
	}
	v := reflect.ValueOf(obj)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// kindOf names an object in messages: its kind, else its Go type, which is the same for API types.
func kindOf(obj runtime.Object) string {
	if kind := obj.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		return kind
	}
	t := reflect.TypeOf(obj)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}

func unreadable(obj runtime.Object, err error) health.Component {
	return health.Component{Errors: []error{health.NewError(health.Unknown, "ObjectUnreadable", "Cannot read "+kindOf(obj)+": "+err.Error(), err)}}
}

// readContent reads the fields that exist and have the right type; others count as absent.
func readContent(content map[string]any) report {
	r := report{}
	r.kind, _ = content["kind"].(string)
	version, _ := content["apiVersion"].(string)
	if group, _, grouped := strings.Cut(version, "/"); grouped {
		r.group = group
	}
	meta, _ := content["metadata"].(map[string]any)
	r.generation, _ = integer(meta["generation"])
	r.deleted = meta["deletionTimestamp"] != nil
	status, _ := content["status"].(map[string]any)
	r.observed, r.reportsGeneration = integer(status["observedGeneration"])
	list, _ := status["conditions"].([]any)
	for _, item := range list {
		c, ok := item.(map[string]any)
		if !ok {
			continue
		}
		one := metav1.Condition{}
		one.Type, _ = c["type"].(string)
		word, _ := c["status"].(string)
		one.Status = metav1.ConditionStatus(word)
		one.Reason, _ = c["reason"].(string)
		one.Message, _ = c["message"].(string)
		one.ObservedGeneration, _ = integer(c["observedGeneration"])
		r.conditions = append(r.conditions, one)
	}
	return r
}

// integer converts the number types of JSON decoders and converters.
func integer(value any) (int64, bool) {
	switch n := value.(type) {
	case int64:
		return n, true
	case int:
		return int64(n), true
	case int32:
		return int64(n), true
	case float64:
		return int64(n), true
	}
	return 0, false
}
