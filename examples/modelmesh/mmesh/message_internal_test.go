package mmesh

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOnTheWire checks that messages are encoded as in the product's protocol, and that decoding restores them.
func TestOnTheWire(t *testing.T) {
	t.Parallel()
	request := &SetRequest{ID: "a", Owner: "ksp", Target: "b", Type: "mt:c", Path: "p", Key: "{}", LoadNow: true}
	want := "\x0a\x01a\x12\x01b\x22\x0d\x0a\x04mt:c\x12\x01p\x1a\x02{}\x28\x01\x30\x01\x52\x03ksp"
	if diff := cmp.Diff(want, string(request.marshal())); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	state := &VModel{
		State: VModelTransitionFailed, Active: "a", Target: "b", Owner: "ksp", ActiveModel: &Model{State: Loaded},
		TargetModel: &Model{State: LoadingFailed, Errors: []string{"boom", ""}, Copies: []Copy{{"pod", LoadingFailed, 1700000000123}, {}}},
	}
	for _, tc := range []struct{ from, into message }{{request, &SetRequest{}}, {state, &VModel{}}, {&Reference{"a", "b"}, &Reference{}}} {
		if err := unmarshal(tc.from.marshal(), tc.into); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.from, tc.into); diff != "" {
			t.Errorf("%T (-want +got):\n%s", tc.from, diff)
		}
	}
}

// FuzzUnmarshal checks that no response of a server makes the client panic.
func FuzzUnmarshal(f *testing.F) {
	f.Add((&VModel{State: 1, Active: "a", ActiveModel: &Model{Errors: []string{"e"}}}).marshal())
	f.Fuzz(func(t *testing.T, data []byte) {
		v := &VModel{}
		if err := unmarshal(data, v); err != nil {
			return
		}
		again := &VModel{}
		if err := unmarshal(v.marshal(), again); err != nil {
			t.Fatal(err)
		}
	})
}
