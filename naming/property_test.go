package naming_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/naming"
)

// Patterns of k8s.io/apimachinery/pkg/util/validation, and of RFC 1035 for names that start with a letter.
var (
	label      = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	letter     = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	subdomain  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	labelValue = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
)

// grammar returns the pattern of the names of a form.
func grammar(form naming.Form) *regexp.Regexp {
	switch form {
	case naming.SubdomainForm:
		return subdomain
	case naming.LabelValueForm:
		return labelValue
	case naming.LabelForm:
	}
	return label
}

// TestMillionNames derives names that differ only in the part that is cut off, which is the worst case: only the hash
// distinguishes them.
func TestMillionNames(t *testing.T) {
	t.Parallel()
	if testing.Short() || raceEnabled {
		t.Skip("makes a million names")
	}
	const n = 1_000_000
	seen := make(map[string]struct{}, n)
	prefix := strings.Repeat("a", 63)
	for i := range n {
		var parts []string
		if i%2 == 0 {
			parts = []string{fmt.Sprintf("%s%d", prefix, i)}
		} else {
			parts = []string{prefix, fmt.Sprint("---", i/2%1000)}
		}
		name, err := naming.Derive(parts, naming.HashInputs(i/2000))
		if err != nil {
			t.Fatal(err)
		}
		seen[name] = struct{}{}
	}
	if len(seen) != n {
		t.Errorf("%d lists of parts have %d names", n, len(seen))
	}
}

// TestRandomNames checks the invariants of names on random parts of a small alphabet, where collisions are likely.
func TestRandomNames(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "b", "1", "-", ".", "_", "/", "A", "é", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "\xff"}
	for _, form := range []naming.Form{naming.LabelForm, naming.SubdomainForm, naming.LabelValueForm} {
		seen := map[string]string{}
		for range 20_000 {
			parts := make([]string, 1+random.IntN(3))
			for i := range parts {
				for range random.IntN(4) {
					parts[i] += alphabet[random.IntN(len(alphabet))]
				}
			}
			name, err := naming.Derive(parts, form, naming.MaxLength(40))
			if err != nil {
				t.Fatal(err)
			}
			if len(name) > 40 || !grammar(form).MatchString(name) {
				t.Fatalf("%q gives %q of form %d", parts, name, form)
			}
			key := fmt.Sprintf("%q", parts)
			if before, ok := seen[name]; ok && before != key {
				t.Fatalf("%s is the name of %s and of %s", name, before, key)
			}
			seen[name] = key
		}
	}
}
