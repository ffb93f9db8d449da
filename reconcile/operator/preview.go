package operator

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/preview"
)

// ErrWouldChange is what [Operator.Run] returns for the command "preview" when the operator would change anything. [Operator.Main] exits with
// status 2 then.
var ErrWouldChange = errors.New("the operator would change something")

// statusWouldChange is the exit status of a preview that would change something.
const statusWouldChange = 2

// What the command "preview" prints.
const (
	formTable form = "table"
	formDiff  form = "diff"
	formJSON  form = "json"
)

// previewSettings are the flags of the command "preview".
type previewSettings struct {
	form   form
	dryRun boolean
}

func previewFlags(p *process, f *flag.FlagSet) {
	p.preview.form = formTable
	f.Var(&p.preview.form, "output", "what to print: table, diff or json")
	f.Var(&p.preview.dryRun, "server-dry-run",
		"ask the API server what would become of each object; needs the rights to write, although nothing is written")
}

// previewOwners prints what the operator would do for every owner. The error is ErrWouldChange when that is anything.
func previewOwners(ctx context.Context, p *process) error {
	cluster, err := p.cluster()
	if err != nil {
		return err
	}
	options := controller.PreviewOptions{Namespaces: p.namespaces, ServerDryRun: bool(p.preview.dryRun)}
	report, err := controller.Preview(ctx, cluster, p.scheme, options, p.Controllers...)
	if err != nil {
		return err
	}
	text, err := p.preview.form.render(report)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(p.stdout, text); err != nil {
		return err
	}
	if report.Changes() {
		return ErrWouldChange
	}
	return nil
}

// form is a form of the preview.
type form string

func (o form) render(report preview.Report) (string, error) {
	switch o {
	case formDiff:
		return report.Diff(), nil
	case formJSON:
		raw, err := report.JSON()
		return string(raw), err
	case formTable:
	}
	return report.Table(), nil
}

func (o *form) String() string { return string(*o) }

// Set implements flag.Value.
func (o *form) Set(value string) error {
	if !slices.Contains([]form{formTable, formDiff, formJSON}, form(value)) {
		return fmt.Errorf("want %s, %s or %s", formTable, formDiff, formJSON)
	}
	*o = form(value)
	return nil
}
