package external

import (
	"strings"
	"testing"
)

// FuzzRecord checks that a record is decoded unchanged for all keys, and that a set of keys has one encoding.
func FuzzRecord(f *testing.F) {
	f.Add("Database", "default/orders", "Report", "x\"\\\n,")
	f.Add("", "\x00", "A", "ü")
	f.Fuzz(func(t *testing.T, kind, key, markerKind, marker string) {
		for _, text := range []string{kind, key, markerKind, marker} {
			if strings.ToValidUTF8(text, "") != text {
				t.Skip("an annotation is UTF-8")
			}
		}
		s := newSet()
		s.things[id{kind, key}] = true
		s.things[id{markerKind, marker}] = true
		s.markers[id{markerKind, marker}] = true
		value, err := s.encode("1")
		if err != nil {
			t.Skip("too long")
		}
		got, _, err := decode(value)
		if err != nil || !got.equal(s) {
			t.Fatalf("got %v, %v from %s, want %v", got, err, value, s)
		}
		if again, _ := got.encode("1"); again != value {
			t.Errorf("got %s, then %s", value, again)
		}
	})
}

// FuzzDecode checks that no input causes a panic, and that a decoded record can be encoded.
func FuzzDecode(f *testing.F) {
	f.Add(`{"things":{"Database":["a"]}}`)
	f.Add(`{"things":[]}`)
	f.Fuzz(func(t *testing.T, value string) {
		got, _, err := decode(value)
		if err != nil {
			return
		}
		if _, err := got.encode("1"); err != nil {
			t.Skip("too long")
		}
	})
}
