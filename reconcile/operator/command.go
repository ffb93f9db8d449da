package operator

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/manager/signals"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
)

// Main runs the operator with the arguments of the process until SIGINT or SIGTERM. It exits with status 1 on an error, and
// with status 2 for a preview with changes. A second signal ends the process immediately. Main may be called once in a
// process.
func (o Operator) Main() {
	err := o.Run(signals.SetupSignalHandler(), os.Args[1:], os.Stdout, os.Stderr)
	if errors.Is(err, ErrWouldChange) {
		os.Exit(statusWouldChange)
	}
	if logged := (&ended{}); errors.As(err, &logged) {
		os.Exit(1)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", o.Name, err)
		os.Exit(1)
	}
}

// Run executes the command in args, which do not include the name of the program. Without a command it runs the controllers
// until ctx is done and they have stopped. Logs are written to stderr, other output to stdout. Run releases the lease
// before it returns, so the process must not write to the cluster afterwards.
func (o Operator) Run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	p, err := o.parse(args, stdout, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return p.usage()
	}
	if err != nil {
		return err
	}
	return p.command.run(ctx, p)
}

// Page returns the page that the command "describe" prints with these flags. It needs no cluster.
func (o Operator) Page(args ...string) (dataflow.Page, error) {
	p, err := o.parse(args, io.Discard, io.Discard)
	if err != nil {
		return dataflow.Page{}, err
	}
	return p.page()
}

// commands returns all commands. The first one is the default.
func commands() []command {
	return []command{
		{name: "run", help: "run the controllers", common: []string{all}, run: runManager},
		{
			name: "describe", help: "print what the operator watches, reads and writes, and its rights; needs no cluster",
			flags: describeFlags, common: []string{flagNamespaces}, run: describe,
		},
		{
			name: "preview", help: "print what the operator would do in the cluster, and do nothing; exits with status 2 when that is anything",
			flags: previewFlags, common: []string{flagKubeconfig, flagNamespaces}, run: previewOwners,
		},
		{
			name: "explain", help: "print why an owner is as it is, as the running operator knows it", arguments: []string{"KIND", "NAMESPACE/NAME"},
			flags: explainFlags, run: explainOwner,
		},
		{name: "version", help: "print the version", run: printVersion},
	}
}

// parse parses the arguments and completes the operator. With [flag.ErrHelp] the process can only print its usage.
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
	switch {
	case bool(p.settings.version):
		err = p.choose("version")
	case bool(p.settings.describe):
		err = p.choose("describe")
	}
	if err != nil || p.command.name == "version" { // it needs no controllers
		return p, err
	}
	return p, p.complete()
}

// choose sets the command with the name.
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

// all stands for the flags of every operator and those of the product.
const all = "*"

// shown returns the flags that the command uses.
func (p *process) shown() *flag.FlagSet {
	if slices.Contains(p.command.common, all) {
		return p.flags
	}
	known := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	if p.command.flags != nil {
		p.command.flags(&process{}, known)
	}
	for _, name := range p.command.common {
		f := p.flags.Lookup(name)
		known.Var(f.Value, f.Name, f.Usage)
	}
	if len(p.command.common) > 0 && p.Flags != nil { // commands with controllers also use the flags of the product
		p.Flags(known)
	}
	return known
}

// usage prints the commands and flags.
func (p *process) usage() error {
	var text strings.Builder
	fmt.Fprintf(&text, "Usage: %s [command] [flags]\n\nCommands:\n", p.Name)
	for _, c := range commands() {
		fmt.Fprintf(&text, "  %-10s %s\n", c.name, c.help)
	}
	fmt.Fprintf(&text, "\nFlags of %s:\n", strings.Join(append([]string{p.command.name}, p.command.arguments...), " "))
	shown := p.shown()
	shown.SetOutput(&text)
	shown.PrintDefaults()
	_, err := io.WriteString(p.stdout, text.String())
	return err
}
