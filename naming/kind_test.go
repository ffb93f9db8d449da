package naming_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/naming"
)

func TestForKind(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 300)
	subdomain := naming.SubdomainForm
	tests := map[string]struct {
		reason string
		part   string
		opts   []naming.Option
		want   int
	}{
		"CronJob":           {"its Jobs have the minute in their name", long, []naming.Option{naming.ForKind("batch", "CronJob")}, 52},
		"StatefulSet":       {"its Pods have the name and a hash in a label", long, []naming.Option{naming.ForKind("apps", "StatefulSet")}, 52},
		"Job":               {"its Pods have the name in a label", long, []naming.Option{subdomain, naming.ForKind("batch", "Job")}, 63},
		"Service":           {"it is a DNS label", long, []naming.Option{subdomain, naming.ForKind("", "Service")}, 63},
		"Namespace":         {"it is a DNS label", long, []naming.Option{subdomain, naming.ForKind("", "Namespace")}, 63},
		"Deployment":        {"its ReplicaSets have a hash in their name", long, []naming.Option{subdomain, naming.ForKind("apps", "Deployment")}, 242},
		"DaemonSet":         {"its revisions have a hash in their name", long, []naming.Option{subdomain, naming.ForKind("apps", "DaemonSet")}, 242},
		"DeploymentLabel":   {"the limit of the form is lower", long, []naming.Option{naming.ForKind("apps", "Deployment")}, 63},
		"ConfigMap":         {"has no limit of its own", long, []naming.Option{subdomain, naming.ForKind("", "ConfigMap")}, 253},
		"OtherGroup":        {"the limit applies to the group of the kind only", long, []naming.Option{naming.ForKind("example.com", "StatefulSet")}, 63},
		"Several":           {"the lowest limit wins", long, []naming.Option{naming.ForKind("apps", "StatefulSet"), naming.ForKind("", "Service")}, 52},
		"SeveralReversed":   {"the lowest limit wins in any order", long, []naming.Option{naming.ForKind("", "Service"), naming.ForKind("apps", "StatefulSet")}, 52},
		"Reserve":           {"reserved suffixes are subtracted", long, []naming.Option{naming.ForKind("apps", "StatefulSet"), naming.Reserve("-db")}, 49},
		"MaxLength":         {"a lower MaxLength wins", long, []naming.Option{naming.ForKind("apps", "StatefulSet"), naming.MaxLength(30)}, 30},
		"Fits":              {"a name within the limit is unchanged", strings.Repeat("a", 52), []naming.Option{naming.ForKind("apps", "StatefulSet")}, 52},
		"ServiceLetter":     {"a Service starts with a letter", "1", []naming.Option{naming.ForKind("", "Service")}, len("x1-") + 12},
		"StatefulSetLetter": {"a StatefulSet may start with a digit", "1", []naming.Option{naming.ForKind("apps", "StatefulSet")}, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := naming.Derive([]string{tc.part}, tc.opts...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, len(got)); diff != "" {
				t.Errorf("%s, got %s (-want +got)\n%s", tc.reason, got, diff)
			}
		})
	}
}

func TestForKindErrors(t *testing.T) {
	t.Parallel()
	_, err := naming.Derive([]string{"a"}, naming.ForKind("batch", "CronJob"), naming.MaxLength(63))
	if err == nil {
		t.Fatal("got no error, want one for a limit above that of the kind")
	}
	if diff := cmp.Diff("maxLength must be between 1 and 52, got 63", err.Error()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
