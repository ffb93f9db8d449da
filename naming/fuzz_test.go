package naming_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/naming"
)

func FuzzDerive(f *testing.F) {
	f.Add("my-service|cache", "ns", 63, 12, 0, 0, false)
	f.Add("a.b", "", 20, 8, 3, 1, true)
	f.Add("1|2|3", "x", 253, 64, 0, 1, true)
	f.Add("_|\xff", "\xff", 63, 0, 62, 2, false)
	f.Fuzz(func(t *testing.T, joined, input string, longest, hash, reserve, form int, first bool) {
		parts := strings.Split(joined, "|")
		opts := []naming.Option{naming.MaxLength(longest), naming.HashLength(hash), naming.ReserveLength(reserve), naming.Form(form)}
		if input != "" {
			opts = append(opts, naming.HashInputs(input))
		}
		if first {
			opts = append(opts, naming.StartWithLetter)
		}
		name, err := naming.Derive(parts, opts...)
		if err != nil {
			return
		}
		if len(name) > longest-reserve || !grammar(naming.Form(form)).MatchString(name) || first && !letter.MatchString(name[:1]) {
			t.Errorf("%q, limit %d, reserved %d, form %d: got %q of %d", parts, longest, reserve, form, name, len(name))
		}
		again, err := naming.Derive(parts, opts...)
		if err != nil || again != name {
			t.Errorf("%q: first %q, then %q, %v", parts, name, again, err)
		}
		// No other list has the unhashed name of a single part: its name would contain a hash.
		if hash > 0 && (len(parts) > 1 || input != "") {
			if plain, err := naming.Derive([]string{name}, opts[:4]...); err == nil && plain == name {
				t.Errorf("%q has the hashed name %q, which is also the name of a part with that text", parts, name)
			}
		}
	})
}

func FuzzSanitize(f *testing.F) {
	for _, s := range []string{"", "a", "--a--", "A.b_c/d", "..", "a.-.b", "é", "\xff", strings.Repeat("a-", 200), "K"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, form := range map[string]struct {
			sanitize func(string) string
			form     naming.Form
			longest  int
		}{
			"DNSLabel":     {naming.DNSLabel, naming.LabelForm, naming.MaxLabel},
			"DNSSubdomain": {naming.DNSSubdomain, naming.SubdomainForm, naming.MaxSubdomain},
			"LabelValue":   {naming.LabelValue, naming.LabelValueForm, naming.MaxLabel},
		} {
			got := form.sanitize(s)
			if got != "" && (len(got) > form.longest || !grammar(form.form).MatchString(got)) {
				t.Errorf("%s(%q) is %q", name, s, got)
			}
			if again := form.sanitize(got); again != got {
				t.Errorf("%s(%q) is %q, which is not valid: it becomes %q", name, s, got, again)
			}
			if got == "" && strings.ContainsAny(s, "abcdefghijklmnopqrstuvwxyz0123456789") && len(s) < form.longest {
				t.Errorf("%s(%q) drops letters or digits", name, s)
			}
		}
	})
}

// FuzzHashImage splits one text into two lists, and checks that their hashed bytes are equal only if the lists are.
func FuzzHashImage(f *testing.F) {
	f.Add("a-b-c", uint64(1), uint64(2), 1)
	f.Add("\x01\x00\x01a", uint64(3), uint64(5), 0)
	f.Fuzz(func(t *testing.T, text string, one, two uint64, inputs int) {
		a, b := cut(text, one), cut(text, two)
		inA, inB := min(max(inputs, 0), len(a)), min(max(inputs/2, 0), len(b))
		imageA, errA := naming.HashImage(a[inA:], anys(a[:inA])...)
		imageB, errB := naming.HashImage(b[inB:], anys(b[:inB])...)
		if errA != nil || errB != nil {
			return
		}
		same := slices.Equal(a[inA:], b[inB:]) && slices.Equal(a[:inA], b[:inB])
		if bytes.Equal(imageA, imageB) != same {
			t.Errorf("%q+%q and %q+%q: the same %v, images %x and %x", a[inA:], a[:inA], b[inB:], b[:inB], same, imageA, imageB)
		}
	})
}

// FuzzHashInput compares the fast path of common types with encoding/json.
func FuzzHashInput(f *testing.F) {
	f.Add("a", "b<\u2028")
	f.Add("", "\xff")
	f.Fuzz(func(t *testing.T, one, two string) {
		for _, v := range []any{one, []string{one, two}, map[string]string{one: two, two: one}} {
			short, errShort := naming.ShortInput(v)
			long, errLong := naming.JSONInput(v)
			if (errShort == nil) != (errLong == nil) || !bytes.Equal(short, long) {
				t.Errorf("%q: %x (%v) by the fast path, %x (%v) by JSON encoding", v, short, errShort, long, errLong)
			}
		}
	})
}

func FuzzParseImage(f *testing.F) {
	for _, ref := range []string{
		"nginx", "nginx:1.25", "ghcr.io/a/b:v1", "localhost:5000/a", "localhost/a", "a/b:c:d", "GHCR.IO/A/b", "a@sha256:ab", "a:b@sha256:ab", "[::1]:80/a",
		"index.docker.io/a", "docker.io/a", "docker.io/library/a", "a__b", "a..b", "-a", "a.b", "a.b/c", "a:1/b", "a-.b/c", "A/b", ":", "@", "a@b", " a ", "",
		strings.Repeat("a", 64), strings.Repeat("a/", 130) + "a", "a:" + strings.Repeat("t", 129), "KELVIN/\u212a",
	} {
		f.Add(ref)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		img, err := naming.LibraryImage(ref)
		if quick, ok := naming.PlainImage(ref); ok {
			if err != nil {
				t.Fatalf("%q is accepted, but the reference library reports: %v", ref, err)
			}
			if diff := cmp.Diff(img, quick); diff != "" {
				t.Fatalf("%q (-library +quick)\n%s", ref, diff)
			}
		}
		if err != nil {
			return
		}
		if registry, name, version := img.Parts(); !label.MatchString(registry) || !label.MatchString(name) || !label.MatchString(version) {
			t.Errorf("%q has the parts %q, %q, %q", ref, registry, name, version)
		}
		again, err := naming.ParseImage(img.String())
		if diff := cmp.Diff(img, again); err != nil || diff != "" {
			t.Errorf("%q is %q, which is %v, %v", ref, img, again, err)
		}
	})
}

// cut splits text after each byte whose bit is set.
func cut(text string, bits uint64) []string {
	var parts []string
	start := 0
	for i := range min(len(text), 64) {
		if bits>>i&1 == 1 {
			parts = append(parts, text[start:i])
			start = i
		}
	}
	return append(parts, text[start:])
}

func anys(list []string) []any {
	values := make([]any, len(list))
	for i, s := range list {
		values[i] = s
	}
	return values
}
