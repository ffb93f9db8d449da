package operator

import (
	"flag"
	"io"
	"os"
	"strings"
	"testing"
)

// TestFlagsAreDocumented checks that docs/operations.md lists every command and every flag, except those of the zap package.
func TestFlagsAreDocumented(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, c := range commands() {
		p := &process{Operator: Operator{Name: "test"}, command: c, stdout: io.Discard, stderr: io.Discard}
		if err := p.addFlags(); err != nil {
			t.Fatal(err)
		}
		if c.name != "run" && !strings.Contains(text, "`"+c.name) && !strings.Contains(text, "> "+c.name+" ") {
			t.Errorf("docs/operations.md does not have the command %s", c.name)
		}
		p.flags.VisitAll(func(f *flag.Flag) {
			if !strings.HasPrefix(f.Name, "zap-") && !strings.Contains(text, "-"+f.Name) {
				t.Errorf("docs/operations.md does not have the flag -%s of %s", f.Name, c.name)
			}
		})
	}
}
