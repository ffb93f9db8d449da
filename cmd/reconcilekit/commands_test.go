package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

// TestCreate runs the commands of a project in order, and checks that each uses the values of its flags.
func TestCreate(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, step := range []struct{ command, want string }{
		{"init --domain example.com --name shop --sdk-version v0.1.0", ""},
		{"create api --group sales --version v1 --kind Order --generate=false", "wrote api/v1/order.go"},
		{"create webhook --group sales --kind Order --validation=false --generate=false", "wrote internal/order/webhook.go"},
		{"create version --group sales --version v1beta1 --kind Order --hub v1 --generate=false", "wrote api/v1beta1/order_conversion.go"},
		{"create version --group sales --version v1 --kind Order --hub v1 --generate=false", "error"},
	} {
		command, printed := root(), &bytes.Buffer{}
		command.SetArgs(strings.Fields(step.command))
		command.SetOut(printed)
		command.SetErr(printed)
		err := command.ExecuteContext(t.Context())
		if failed := step.want == "error"; failed != (err != nil) {
			t.Fatalf("%s: got error %v, want one: %t", step.command, err, failed)
		}
		if err == nil && !strings.Contains(printed.String(), step.want) {
			t.Errorf("%s: printed %q, want %q", step.command, printed, step.want)
		}
	}
	text, err := os.ReadFile("internal/order/webhook.go")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "func validate(") || !strings.Contains(string(text), "func setDefaults(") {
		t.Errorf("want defaults without a validation with --validation=false, got:\n%s", text)
	}
}

// TestReportProgress checks that a long-running command prints lines until it ends.
func TestReportProgress(t *testing.T) {
	t.Parallel()
	lines := make(writes, 2)
	stop := reportProgress(lines, "make generate", time.Millisecond)
	for range 2 {
		if line := <-lines; line != "make generate: running for 0s\n" {
			t.Errorf("printed %q", line)
		}
	}
	stop()
}

// writes is a writer that sends what is written to a channel with free capacity.
type writes chan string

func (w writes) Write(text []byte) (int, error) {
	select {
	case w <- string(text):
	default:
	}
	return len(text), nil
}
