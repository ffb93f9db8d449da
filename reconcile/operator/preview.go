package operator

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/preview"
)

// ErrWouldChange is the error of [Operator.Run] for the command "preview" if the operator would change anything.
// [Operator.Main] then exits with status 2.
var ErrWouldChange = errors.New("the operator would change something")

// statusWouldChange is the exit status of a preview that would change something.
const statusWouldChange = 2

// The outputs of the command "preview".
const (
	formTable form = "table"
	formDiff  form = "diff"
	formJSON  form = "json"
)

// previewSettings are the flags of the command "preview".
type previewSettings struct {
	form   form
	dryRun boolean
	file   string
}

func previewFlags(p *process, f *flag.FlagSet) {
	p.preview.form = formTable
	f.Var(&p.preview.form, "output", "what to print: table, diff or json")
	f.StringVar(&p.preview.file, "filename", "",
		"`file` with owners as they would be, in the cluster or not, - for standard input; only these are looked at")
	f.Var(&p.preview.dryRun, "server-dry-run",
		"ask the API server what would become of each object; needs the rights to write, although nothing is written")
}

// previewOwners prints the changes that the operator would make for every owner. It returns ErrWouldChange if there are
// any.
func previewOwners(ctx context.Context, p *process) error {
	cluster, err := p.cluster()
	if err != nil {
		return err
	}
	options := controller.PreviewOptions{Namespaces: p.namespaces, ServerDryRun: bool(p.preview.dryRun)}
	if options.Manifests, err = p.preview.manifests(); err != nil {
		return err
	}
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

// manifests reads the owners from the file, as YAML documents or JSON.
func (s previewSettings) manifests() (found []*unstructured.Unstructured, err error) {
	var from io.Reader
	switch s.file {
	case "":
		return nil, nil
	case "-":
		from = os.Stdin
	default:
		file, err := os.Open(s.file)
		if err != nil {
			return nil, fmt.Errorf("flag -filename: %w", err)
		}
		defer file.Close()
		from = file
	}
	const buffer = 4096 // to detect JSON
	decoder := yaml.NewYAMLOrJSONDecoder(from, buffer)
	for {
		u := &unstructured.Unstructured{}
		err := decoder.Decode(&u.Object)
		switch {
		case errors.Is(err, io.EOF) && len(found) == 0:
			return nil, fmt.Errorf("flag -filename: %s has no object", s.file)
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return nil, fmt.Errorf("flag -filename: %s: %w", s.file, err)
		case len(u.Object) == 0: // an empty document
		case u.GetKind() == "" || u.GetName() == "":
			return nil, fmt.Errorf("flag -filename: %s: an object needs apiVersion, kind and metadata.name, got kind %q, name %q", s.file, u.GetKind(), u.GetName())
		default:
			found = append(found, u)
		}
	}
}

// form is an output of the command "preview".
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
