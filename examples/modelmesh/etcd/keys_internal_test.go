package etcd

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEvents(t *testing.T) {
	t.Parallel()
	type key struct {
		key, value string
		deleted    bool
	}
	for name, tc := range map[string]struct {
		key  key
		want *Event
		err  bool
	}{
		"a vmodel":                  {key: key{key: "r/mm/svc/vmodels/m", value: `{"o":"isvc","z":1}`}, want: &Event{"own", "m", "isvc"}},
		"a vmodel without a source": {key: key{key: "r/mm/svc/vmodels/m", value: `{}`}, want: &Event{"own", "m", "ksp"}},
		"a deleted vmodel": {
			key: key{key: "r/mm/svc/vmodels/m", value: `{"o":"ksp"}`, deleted: true}, want: &Event{"own", "m", "ksp"},
		},
		"an unknown deleted vmodel":   {key: key{key: "r/mm/svc/vmodels/m", deleted: true}, want: &Event{"own", "m", ""}},
		"no JSON":                     {key: key{key: "r/mm/svc/vmodels/m", value: `notjson`}, err: true},
		"JSON replaced by other text": {key: key{key: "r/mm/svc/vmodels/m", value: `notjson`, deleted: true}, err: true},
		"of a namespace": {
			key: key{key: "r/mm_ns/other/mm/svc/vmodels/m", value: `{"o":"ksp"}`}, want: &Event{"other", "m", "ksp"},
		},
		"a model":                              {key: key{key: "r/mm/svc/registry/na__me__isvc-0123456789"}, want: &Event{"own", "na__me", "isvc"}},
		"a model of a source with a -":         {key: key{key: "r/mm_ns/n/mm/svc/registry/m__a-b-0123456789"}, want: &Event{"n", "m", "a-b"}},
		"a deleted model":                      {key: key{key: "r/mm/svc/registry/m__isvc-0123456789", deleted: true}},
		"a model with a short hash":            {key: key{key: "r/mm/svc/registry/m__ksp-012345"}},
		"a model without a source":             {key: key{key: "r/mm/svc/registry/m__-0123456789"}},
		"a model without a vmodel":             {key: key{key: "r/mm/svc/registry/__ksp-0123456789"}},
		"another model":                        {key: key{key: "r/mm/svc/registry/m"}},
		"another service":                      {key: key{key: "r/mm/svc2/vmodels/m", value: `{}`}},
		"another service in another namespace": {key: key{key: "r/mm_ns/n/mm/svc2/vmodels/m", value: `{}`}},
		"no name":                              {key: key{key: "r/mm/svc/vmodels/", value: `{}`}},
		"another key":                          {key: key{key: "r/mm/svc/instances/m", value: `{}`}},
		"an unknown path segment":              {key: key{key: "r/mmm/svc/vmodels/m", value: `{}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := layout{root: "r", service: "svc", namespace: "own", cluster: true}
			got, ok, err := l.event(tc.key.key, []byte(tc.key.value), tc.key.deleted)
			if (err != nil) != tc.err || ok != (tc.want != nil) {
				t.Fatalf("event %v, %v, %v; want %v", got, ok, err, tc.want)
			}
			if tc.want != nil {
				if diff := cmp.Diff(*tc.want, got); diff != "" {
					t.Errorf("event (-want +got):\n%s", diff)
				}
			}
			from, to := l.bounds()
			if ok && (tc.key.key < from || tc.key.key >= to) {
				t.Errorf("%s is not between %s and %s", tc.key.key, from, to)
			}
			if l.cluster = false; ok && got.Namespace != "own" {
				if _, ok, _ := l.event(tc.key.key, []byte(tc.key.value), tc.key.deleted); ok {
					t.Error("an event of another namespace, with a watch of one namespace")
				}
			}
		})
	}
}
