package operator

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/reconcilekit/reconcilekit/reconcile/operator/internal/certificate"
)

// command is something that the program can do. The first argument names it.
type command struct {
	name string
	help string
	// arguments names what stands beside the flags, in its order; none is the usual.
	arguments []string
	// flags adds those of the command alone; nil adds none.
	flags func(*process, *flag.FlagSet)
	run   func(context.Context, *process) error
}

// commands lists all of them; the first one is taken when none is named.
func commands() []command {
	return []command{
		{name: "run", help: "run the controllers", run: runManager},
		{name: "describe", help: "print what the operator watches, reads and writes, and its rights; needs no cluster", flags: describeFlags, run: describe},
		{
			name: "preview", help: "print what the operator would do in the cluster, and do nothing; exits with status 2 when that is anything",
			flags: previewFlags, run: previewOwners,
		},
		{
			name: "explain", help: "print why an owner is as it is, as the running operator knows it", arguments: []string{"KIND", "NAMESPACE/NAME"},
			flags: explainFlags, run: explainOwner,
		},
	}
}

// process is an operator whose arguments are parsed: what a command works with.
type process struct {
	Operator
	settings

	command  command
	scheme   *runtime.Scheme
	flags    *flag.FlagSet
	describe describeSettings
	preview  previewSettings
	stdout   io.Writer
	stderr   io.Writer

	keeper *certificate.Keeper // of the webhook server; nil where somebody else provides its certificate

	explanation explainSettings
	arguments   []string // those that the command names
}

// parse reads the arguments and completes the operator. With [flag.ErrHelp] the process is good for its usage alone.
func (o Operator) parse(args []string, stdout, stderr io.Writer) (*process, error) {
	p := &process{Operator: o, command: commands()[0], stdout: stdout, stderr: stderr}
	if o.Name == "" {
		return nil, errors.New("the operator has no name: set operator.Operator.Name")
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		if err := p.choose(args[0]); err != nil {
			return nil, err
		}
		args = args[1:]
	}
	if err := p.addFlags(); err != nil {
		return nil, err
	}
	var err error
	if p.arguments, err = parseFlags(p.flags, args, p.command.arguments); err != nil {
		return p, err
	}
	if p.settings.describe {
		if err := p.choose("describe"); err != nil {
			return nil, err
		}
	}
	return p, p.complete()
}

// choose sets the command.
func (p *process) choose(name string) error {
	var names []string
	for _, c := range commands() {
		if c.name == name {
			p.command = c
			return nil
		}
		names = append(names, c.name)
	}
	return fmt.Errorf("unknown command %q: want one of %s, or flags alone to run", name, strings.Join(names, ", "))
}

// complete makes the scheme and fills in what depends on the flags.
func (p *process) complete() error {
	p.scheme = runtime.NewScheme()
	for _, add := range append([]func(*runtime.Scheme) error{clientscheme.AddToScheme}, p.AddToScheme...) {
		if err := add(p.scheme); err != nil {
			return fmt.Errorf("add kinds to the scheme: %w", err)
		}
	}
	if p.Configure != nil {
		if err := p.Configure(&p.Operator, p.scheme); err != nil {
			return err
		}
	}
	if len(p.Controllers) == 0 {
		return errors.New("the operator has no controllers: set operator.Operator.Controllers, or let Configure fill them in")
	}
	return nil
}

// usage prints what the program can be asked for.
func (p *process) usage() error {
	var text strings.Builder
	fmt.Fprintf(&text, "Usage: %s [command] [flags]\n\nCommands:\n", p.Name)
	for _, c := range commands() {
		fmt.Fprintf(&text, "  %-10s %s\n", c.name, c.help)
	}
	fmt.Fprintf(&text, "\nFlags of %s:\n", strings.Join(append([]string{p.command.name}, p.command.arguments...), " "))
	p.flags.SetOutput(&text)
	p.flags.PrintDefaults()
	_, err := io.WriteString(p.stdout, text.String())
	return err
}
