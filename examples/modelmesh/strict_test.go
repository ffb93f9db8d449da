package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
)

// TestMatch checks that an expected empty value must exist and be empty, and that a value expected to be absent must not
// exist.
func TestMatch(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	absent := object{"$absent": true}
	for name, c := range map[string]struct {
		want, got any
		matches   bool
	}{
		"an empty map":               {object{}, object{}, true},
		"no map":                     {object{}, nil, false},
		"a map with content":         {object{}, object{"a": "b"}, false},
		"an empty list":              {[]any{}, []any{}, true},
		"no list":                    {[]any{}, nil, false},
		"a list with content":        {[]any{}, []any{"a"}, false},
		"no map in a field":          {object{"emptyDir": object{}}, object{"name": "v"}, false},
		"a subset":                   {object{"a": "b"}, object{"a": "b", "c": "d"}, true},
		"absent in a missing object": {object{"a": absent}, nil, true},
		"not absent":                 {object{"a": absent}, object{"a": object{}}, false},
		"exactly":                    {object{"$exact": object{"a": "b"}}, object{"a": "b", "c": "d"}, false},
		"a condition by its type":    {[]any{object{"type": "A"}}, []any{object{"type": "B"}, object{"type": "A"}}, true},
	} {
		if err := match("it", c.want, c.got); (err == nil) != c.matches {
			t.Errorf("%s: error %v, want a match: %t", name, err, c.matches)
		}
	}
}

// TestFailure checks that the fake ModelMesh returns the errors of a case.
func TestFailure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer *answer
		code   codes.Code
		text   string
	}{
		"no answer":      {code: codes.OK},
		"no error":       {answer: &answer{Status: "DEFINED"}, code: codes.OK},
		"another source": {answer: &answer{Error: "AlreadyExists"}, code: codes.AlreadyExists},
		"any other":      {answer: &answer{Error: "out of order"}, code: codes.Unknown, text: "out of order"},
	} {
		got := status.Convert(c.answer.failure())
		if got.Code() != c.code || !strings.Contains(got.Message(), c.text) {
			t.Errorf("%s: got %v, want %v %q", name, got, c.code, c.text)
		}
	}
	d, request, reference := newDouble(t), mmesh.SetRequest{ID: "v", Owner: "ksp", Target: "t"}, mmesh.Reference{ID: "v", Owner: "ksp"}
	d.follow(t, &script{Set: &answer{Error: "out of order"}})
	if _, err := d.Set(t.Context(), &request); status.Code(err) != codes.Unknown {
		t.Errorf("failing set: got %v", err)
	}
	if _, err := d.Get(t.Context(), reference); err != nil {
		t.Errorf("get while set fails: got %v", err)
	}
	d.follow(t, &script{Get: &answer{Error: "out of order"}})
	if _, err := d.Get(t.Context(), reference); status.Code(err) != codes.Unknown {
		t.Errorf("failing get: got %v", err)
	}
	d.follow(t, &script{Set: &answer{Status: "DEFINED", Active: "$target", Target: "$target"}})
	if v, err := d.Set(t.Context(), &request); err != nil || v.Target != request.Target {
		t.Errorf("set after the failure: got %+v, %v", v, err)
	}
	if diff := cmp.Diff(map[string]string{"v": "ksp"}, d.VModels()); diff != "" {
		t.Errorf("vmodels (-want +got):\n%s", diff)
	}
}
