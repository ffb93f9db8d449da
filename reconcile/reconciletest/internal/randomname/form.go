package randomname

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// form is the pattern of random names of a kind: a prefix, random parts with a length and an alphabet, and a suffix.
type form struct {
	kind           schema.GroupKind
	prefix, suffix string
	parts          []span
	alphabet       string
}

// span is the range of a part's length.
type span struct{ least, most int }

const (
	separators = "-._"
	shortest   = 4 // minimum of random characters: fewer are a number or a word
)

// alphabets returns the alphabets of random names, the smallest first.
func alphabets() []string {
	return []string{"0123456789", "0123456789abcdef", "0123456789abcdefghijklmnopqrstuvwxyz"}
}

// formOf returns the form of two names with random parts: the parts between separators that differ. The common prefix is not used,
// because two random parts may begin alike.
func formOf(kind schema.GroupKind, one, other string) (form, bool) {
	f := form{kind: kind}
	f.prefix = one[:commonPrefix(one, other)]
	f.prefix = f.prefix[:strings.LastIndexAny(f.prefix, separators)+1]
	a, b := one[len(f.prefix):], other[len(f.prefix):]
	f.suffix = a[len(a)-commonSuffix(a, b):]
	if n := strings.IndexAny(f.suffix, separators); n >= 0 {
		f.suffix = f.suffix[n:]
	} else {
		f.suffix = ""
	}
	a, b = strings.TrimSuffix(a, f.suffix), strings.TrimSuffix(b, f.suffix)
	these, those := partsOf(a), partsOf(b)
	if a == b || len(a) < shortest || len(b) < shortest || len(these) != len(those) {
		return f, false
	}
	for n := range these {
		part := span{min(len(these[n]), len(those[n])), max(len(these[n]), len(those[n]))}
		if part.least != part.most { // a random number has a random length
			part.least, part.most = part.least/2, part.most*2 //nolint:mnd // far enough
		}
		f.parts = append(f.parts, part)
	}
	for _, f.alphabet = range alphabets() {
		if f.draws(a) && f.draws(b) {
			return f, true
		}
	}
	return f, false
}

// partsOf returns the parts between separators.
func partsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(separators, r) })
}

func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// draws reports whether a text consists of the alphabet.
func (f *form) draws(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune(f.alphabet+separators, r) })
}

// given returns the length of the constant part of a name.
func (f *form) given() int { return len(f.prefix) + len(f.suffix) }

// random returns the random part of a name of the form.
func (f *form) random(name string) string {
	return name[len(f.prefix) : len(name)-len(f.suffix)]
}

// matches reports whether a name may have the form.
func (f *form) matches(name string) bool {
	if len(name) < f.given()+shortest || !strings.HasPrefix(name, f.prefix) || !strings.HasSuffix(name, f.suffix) {
		return false
	}
	text := f.random(name)
	parts := partsOf(text)
	if len(parts) != len(f.parts) || !f.draws(text) {
		return false
	}
	for n, part := range parts {
		if len(part) < f.parts[n].least || len(part) > f.parts[n].most {
			return false
		}
	}
	return true
}

// equal reports whether another form is the same.
func (f *form) equal(other form) bool {
	return f.kind == other.kind && f.prefix == other.prefix && f.suffix == other.suffix && f.alphabet == other.alphabet &&
		slices.Equal(f.parts, other.parts)
}
