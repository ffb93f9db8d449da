package fieldset

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

type rule struct{ Name string }

// union decodes and encodes only the fields that it declares.
type union struct{ known map[string]string }

func (u union) MarshalJSON() ([]byte, error) { return json.Marshal(u.known) }

type common struct {
	Rules []rule `json:"rules,omitempty"`
}

type embedder struct {
	*embedder //nolint:unused // a type that embeds itself must not end the search
	*common
	common2 `json:",inline"`
}

type common2 struct {
	More []rule `json:"more,omitempty"`
}

type someKind struct {
	Embedded embedder                `json:"embedded"`
	Unions   []union                 `json:"unions"`
	ByName   map[string]*union       `json:"byName"`
	Texts    []string                `json:"texts"`
	Amounts  []resource.Quantity     `json:"amounts"`
	Ports    []*intstr.IntOrString   `json:"ports"`
	Any      []apiextensionsv1.JSON  `json:"any"`
	Times    []metav1.Time           `json:"times"`
	Matches  []*metav1.LabelSelector `json:"matches"`
}

// A value that decoding into a custom Go type may have dropped proves
// nothing.
func TestLoses(t *testing.T) {
	t.Parallel()
	schema := Schema{source: sourceForeign, goType: reflect.TypeFor[someKind]()}
	for name, want := range map[string]bool{
		"embedded.rules": true, "embedded.more": true, "unions": true, "byName": true, "texts": false, "amounts": false,
		"ports": false, "any": false, "times": false, "matches": true,
	} {
		s := schema
		for step := range strings.SplitSeq(name, ".") {
			s = s.field(step)
		}
		if got := s.loses(); got != want {
			t.Errorf("%s: loses %v, want %v", name, got, want)
		}
	}
}
