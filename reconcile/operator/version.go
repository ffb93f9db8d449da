package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The metrics of the process. Package controller registers the others.
const (
	metricBuild   = "reconcilekit_build_info"
	metricExpires = "reconcilekit_webhook_certificate_not_after_seconds"
)

// version is set by the linker, see [Operator.Version].
//
//nolint:gochecknoglobals // the linker sets only variables
var version string

// build is the build information of a program.
type build struct{ version, revision, compiler string }

func (p *process) build() build {
	b := build{version: cmp.Or(p.Version, version), revision: "unknown", compiler: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.version = cmp.Or(b.version, info.Main.Version)
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				b.revision = setting.Value
			}
		}
	}
	b.version = cmp.Or(b.version, "unknown")
	return b
}

// printVersion runs the command "version".
func printVersion(_ context.Context, p *process) error {
	b := p.build()
	_, err := fmt.Fprintf(p.stdout, "%s %s (revision %s, %s)\n", p.Name, b.version, b.revision, b.compiler)
	return err
}

// register registers and sets the metric with the version.
func (b build) register(registry prometheus.Registerer, operator string) error {
	gauge, err := vector(registry, metricBuild, "The version of the program, as labels; always 1.", "operator", "version", "revision", "go")
	if err == nil {
		gauge.WithLabelValues(operator, b.version, b.revision, b.compiler).Set(1)
	}
	return err
}

// certificateExpiry returns a function that sets the metric with the end of the webhook certificate.
func certificateExpiry(registry prometheus.Registerer) (func(time.Time), error) {
	gauge, err := vector(registry, metricExpires, "When the certificate of the webhook server ends, in seconds since 1970.")
	return func(end time.Time) { gauge.WithLabelValues().Set(float64(end.Unix())) }, err
}

// vector registers a gauge, or returns the gauge that another operator of the process has registered.
func vector(registry prometheus.Registerer, name, help string, labels ...string) (*prometheus.GaugeVec, error) {
	gauge := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	err := registry.Register(gauge)
	if known := (prometheus.AlreadyRegisteredError{}); errors.As(err, &known) {
		if former, ok := known.ExistingCollector.(*prometheus.GaugeVec); ok {
			return former, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("register the metric %s: %w", name, err)
	}
	return gauge, nil
}
