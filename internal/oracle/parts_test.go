package oracle //nolint:testpackage // the parts are internal

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDifferences(t *testing.T) {
	t.Parallel()
	const before = `{"metadata":{"resourceVersion":"1","labels":{"a":"b"},"managedFields":[
		{"manager":"oracle","operation":"Apply","apiVersion":"v1","time":"1","fieldsV1":{"f:data":{"f:a":{}}}},
		{"manager":"other","operation":"Update","apiVersion":"v1","fieldsV1":{"f:data":{"f:b":{}}}}]},"data":{"a":"1","b":"2"}}`
	tests := map[string]struct {
		after string
		want  []string
	}{
		"versions and times": {`{"metadata":{"resourceVersion":"2","labels":{"a":"b"},"managedFields":[
			{"manager":"oracle","operation":"Apply","apiVersion":"v1","time":"2","fieldsV1":{"f:data":{"f:a":{}}}}]},"data":{"a":"1","b":"2"}}`, nil},
		"a value": {
			`{"metadata":{"labels":{"a":"b"},"managedFields":[
			{"manager":"oracle","operation":"Apply","apiVersion":"v1","fieldsV1":{"f:data":{"f:a":{}}}}]},"data":{"a":"1.0"}}`,
			[]string{`.data.a: "1" -> "1.0"`, `.data.b: "2" -> absent`},
		},
		"ownership": {
			`{"metadata":{"labels":{"a":"b"},"managedFields":[
			{"manager":"oracle","operation":"Apply","apiVersion":"v1","fieldsV1":{"f:data":{"f:a":{},"f:b":{}}}}]},"data":{"a":"1","b":"2"}}`,
			[]string{`managedFields.Apply v1 <nil>.f:data.f:b: absent -> {}`},
		},
		"absent is not zero": {
			`{"metadata":{"labels":{"a":"b"},"managedFields":[
			{"manager":"oracle","operation":"Apply","apiVersion":"v1","fieldsV1":{"f:data":{"f:a":{}}}}]},"data":{"a":"1","b":"2","c":""}}`,
			[]string{`.data.c: absent -> ""`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := differences(parse([]byte(before)), parse([]byte(test.after)), "oracle")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestMergeOf(t *testing.T) {
	t.Parallel()
	from := parse([]byte(`{"a":{"b":1,"c":[1]},"d":"e","f":{"g":1}}`))
	to := parse([]byte(`{"a":{"b":2,"c":[1]},"f":{},"h":0}`))
	want := parse([]byte(`{"a":{"b":2},"d":null,"f":{"g":null},"h":0}`))
	if diff := cmp.Diff(want, mergeOf(from, to)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestOwnedBy(t *testing.T) {
	t.Parallel()
	o := parse([]byte(`{"metadata":{"managedFields":[
		{"manager":"oracle","operation":"Apply","fieldsV1":{"f:spec":{"f:l":{"k:{\"n\":\"a\"}":{".":{},"f:n":{}}}}}},
		{"manager":"other","operation":"Update","fieldsV1":{"f:data":{"f:b":{}}}},
		{"manager":"before-first-apply","operation":"Update","fieldsV1":{"f:data":{"f:c":{}}}}]},
		"spec":{"l":[{"n":"b"},{"n":"a"}]}}`))
	ours, others := ownedBy(o, true), ownedBy(o, false)
	path := ours[`f:spec f:l k:{"n":"a"} f:n`]
	if len(ours) != 1 || len(others) != 1 || !exists(o, path) {
		t.Errorf("ours %v, others %v", ours, others)
	}
	if missing := []string{"f:spec", "f:l", `k:{"n":"c"}`}; exists(o, missing) {
		t.Errorf("%v exists", missing)
	}
}

func TestEverydayBasesParse(t *testing.T) {
	t.Parallel()
	for _, e := range everydayKinds() {
		if contents := e.contents(podSmall, podLarge); len(contents) < len(e.bases) || slices.ContainsFunc(contents, func(m map[string]any) bool { return m == nil }) {
			t.Errorf("%T has bases %v", e.goType, contents)
		}
	}
}

func TestAddForeignFieldOwnsOneFieldMore(t *testing.T) {
	t.Parallel()
	live := parse([]byte(`{"metadata":{"managedFields":[{"manager":"oracle","operation":"Apply","fieldsV1":{"f:data":{}}}]}}`))
	changed := addForeignField(live, "oracle")
	want := []string{
		`.metadata.annotations: absent -> {"` + foreignAnnotation + `":"x"}`,
		`managedFields.Apply <nil> <nil>.f:metadata: absent -> {"f:annotations":{"f:` + foreignAnnotation + `":{}}}`,
	}
	if diff := cmp.Diff(want, differences(live, changed, "oracle")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
