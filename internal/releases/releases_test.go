package releases_test

import (
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/internal/releases"
)

// envFolder is a folder with published manifests, PROJECT-RELEASE.yaml. Default testdata.
const envFolder = "MANIFESTS"

func TestReleases(t *testing.T) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("KUBEBUILDER_ASSETS is not set; run make assets")
		}
		t.Skip("KUBEBUILDER_ASSETS is not set; run make assets")
	}
	log.SetLogger(logr.Discard())
	folder := os.Getenv(envFolder)
	if folder == "" {
		folder = "testdata"
	}
	projects, err := releases.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	server, err := releases.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	all := &releases.Report{}
	for _, project := range projects {
		t.Run(project.Name, func(t *testing.T) {
			started, report := time.Now(), &releases.Report{}
			if err := server.Run(t.Context(), project, report); err != nil {
				t.Error(err)
			}
			if len(report.Faults) > 0 {
				t.Error("the engine does not keep what the manifests state")
			}
			t.Logf("%s\n%s", time.Since(started).Round(time.Second), report)
			all.Add(report)
		})
	}
	if all.Edits == 0 || all.Edits != all.Repaired+all.Reported {
		t.Error("edits are missing")
	}
	t.Logf("all projects\n%s", all)
}
