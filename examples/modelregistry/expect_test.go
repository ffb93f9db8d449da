package main_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// expect waits until the expectation holds.
func (p *player) expect(e expectation) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		for _, ref := range e.Exist {
			found := object(ref)
			g.Expect(p.c.Get(ctx, client.ObjectKeyFromObject(found), found)).To(Succeed(), ref)
			g.Expect(found.GetDeletionTimestamp()).To(BeNil(), "%s is being deleted", ref)
		}
		for _, ref := range e.Absent {
			g.Expect(p.gone(ref)).To(BeTrue(), "%s exists", ref)
		}
		for _, field := range e.Fields {
			g.Expect(p.field(field)).To(BeEmpty(), field.Ref+" "+field.Path)
		}
		for _, condition := range e.Conditions {
			g.Expect(p.condition(condition)).To(BeEmpty())
		}
		for _, condition := range e.NoConditions {
			g.Expect(p.condition(condition)).To(HavePrefix("no condition"))
		}
		for _, event := range e.Events {
			g.Expect(p.events()).To(ContainElement(event))
		}
	}).Should(Succeed())
}

func (p *player) gone(ref string) bool {
	found := object(ref)
	err := p.c.Get(ctx, client.ObjectKeyFromObject(found), found)
	return apierrors.IsNotFound(err) || err != nil && strings.Contains(err.Error(), "no matches for kind")
}

func (p *player) events() []string {
	var list corev1.EventList
	Expect(p.c.List(ctx, &list, client.InNamespace(p.namespace))).To(Succeed())
	var out []string
	for _, e := range list.Items {
		out = append(out, e.Type+" "+e.Reason+" "+e.Message)
	}
	return out
}

// condition compares the given fields of a condition and describes the first difference.
func (p *player) condition(want map[string]string) string {
	found := object(want["ref"])
	if err := p.c.Get(ctx, client.ObjectKeyFromObject(found), found); err != nil {
		return err.Error()
	}
	list, _, _ := unstructured.NestedSlice(found.Object, "status", "conditions")
	for _, item := range list {
		c, _ := item.(map[string]any)
		if c["type"] != want["type"] {
			continue
		}
		for _, part := range []string{"status", "reason", "message"} {
			if text, given := want[part]; given && c[part] != text {
				return fmt.Sprintf("%s: want %s %q, got %v", want["type"], part, text, c)
			}
		}
		return ""
	}
	return fmt.Sprintf("no condition %s in %v", want["type"], list)
}

// field compares a field and describes the difference.
func (p *player) field(want fieldExpectation) string {
	found := object(want.Ref)
	if err := p.c.Get(ctx, client.ObjectKeyFromObject(found), found); err != nil {
		return err.Error()
	}
	got, exists := at(found.Object, want.Path)
	text, _ := got.(string)
	wrong := false
	switch {
	case want.Absent:
		wrong = exists
	case want.Present:
		wrong = !exists
	case want.Length != nil:
		wrong = reflect.ValueOf(got).Kind() != reflect.Slice && reflect.ValueOf(got).Kind() != reflect.Map || reflect.ValueOf(got).Len() != *want.Length
	case want.SameAs != "":
		wrong = !same(p.remembered[want.SameAs], got)
	case want.DiffersFrom != "":
		wrong = !exists || same(p.remembered[want.DiffersFrom], got)
	case want.ContainsText != "":
		wrong = !strings.Contains(text, want.ContainsText)
	case want.EqualsJSON != nil:
		var parsed any
		wrong = json.Unmarshal([]byte(text), &parsed) != nil || !same(want.EqualsJSON, parsed)
	case want.Contains != nil:
		m, _ := got.(map[string]any)
		for name, value := range want.Contains {
			if !same(value, m[name]) && (value != "" || m[name] != nil) {
				wrong = true
			}
		}
	default:
		wrong = !same(want.Equals, got)
	}
	if !wrong {
		return ""
	}
	data, _ := json.Marshal(got) //nolint:errchkjson // it came from JSON
	return fmt.Sprintf("%s is %s", want.Path, data)
}

// same compares two values as JSON.
func same(a, b any) bool {
	x, _ := json.Marshal(a) //nolint:errchkjson // as above
	y, _ := json.Marshal(b) //nolint:errchkjson // as above
	var u, v any
	_ = json.Unmarshal(x, &u)
	_ = json.Unmarshal(y, &v)
	return reflect.DeepEqual(u, v)
}

// object returns an empty object for "apiVersion|Kind|namespace|name".
func object(ref string) *unstructured.Unstructured {
	part := strings.Split(ref, "|")
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(part[0])
	u.SetKind(part[1])
	u.SetNamespace(part[2])
	u.SetName(part[3])
	return u
}

var segment = regexp.MustCompile(`\['([^']+)'\]|\[(\d+)\]|([^.\[\]]+)`)

// at returns the value at a path such as spec.ports[0].name or data['a.b'].
func at(value any, path string) (any, bool) {
	for _, part := range segment.FindAllStringSubmatch(path, -1) {
		switch {
		case part[2] != "":
			list, _ := value.([]any)
			index, _ := strconv.Atoi(part[2])
			if index >= len(list) {
				return nil, false
			}
			value = list[index]
		default:
			m, _ := value.(map[string]any)
			next, exists := m[part[1]+part[3]]
			if !exists {
				return nil, false
			}
			value = next
		}
	}
	return value, true
}
