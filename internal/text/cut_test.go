package text_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reconcilekit/reconcilekit/internal/text"
)

func TestCut(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text  string
		limit int
		want  string
	}{
		{"", 10, ""},
		{"fits", 4, "fits"},
		{"does not", 7, "does..."},
		{"éééé", 6, "é..."},
		{"a\xffb", 10, "a\uFFFDb"},
		{"a\xffbcdef", 7, "a\uFFFD..."},
		{"abc", 2, "ab"},
		{"é", 1, ""},
		{"abc", 0, ""},
		{"abc", -1, ""},
	} {
		t.Run(fmt.Sprintf("%q to %d", tc.text, tc.limit), func(t *testing.T) {
			t.Parallel()
			if got := text.Cut(tc.text, tc.limit); got != tc.want {
				t.Errorf("Cut = %q, want %q", got, tc.want)
			}
		})
	}
}

func FuzzCut(f *testing.F) {
	for _, s := range []string{"", "a", strings.Repeat("a", 1024), strings.Repeat("é", 1024), "a\xff" + strings.Repeat("b", 2000)} {
		f.Add(s, 1024)
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		got := text.Cut(s, limit)
		if len(got) > max(limit, 0) || !utf8.ValidString(got) {
			t.Errorf("%d bytes, valid %v", len(got), utf8.ValidString(got))
		}
		if len(s) <= limit && utf8.ValidString(s) && got != s {
			t.Errorf("%q became %q", s, got)
		}
		if again := text.Cut(got, limit); again != got {
			t.Errorf("not idempotent: %q became %q", got, again)
		}
	})
}
