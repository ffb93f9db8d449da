package oracle_test

import (
	"context"
	"fmt"
	"go/build"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/internal/oracle"
	"github.com/reconcilekit/reconcilekit/internal/widget"
)

// Environment variables of a search. hack/prove.sh sets them.
const (
	envCases    = "ORACLE_CASES"    // number of cases
	envSeed     = "ORACLE_SEED"     // seed; the default is that of the day, or of the test
	envSequence = "ORACLE_SEQUENCE" // the only sequence to run
	envKeep     = "ORACLE_KEEP"     // continue after a failure
)

// A plain test run ends after sampleCases, or after sampleTime on a busy machine.
const (
	sampleCases = 1500
	sampleTime  = time.Minute
)

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

func TestUnchangedIsTrue(t *testing.T) {
	now := time.Now().UTC()
	o, _, seed := open(t, now.Year()*10000+int(now.Month())*100+now.Day())
	search := &search{t: t, oracle: o, cases: number(envCases, sampleCases), started: time.Now()}
	if os.Getenv(envCases) == "" {
		search.most = sampleTime
	}
	if sequence := number(envSequence, -1); sequence >= 0 {
		search.runOne(t.Context(), sequence)
	} else {
		search.run(t.Context())
	}
	if testing.Verbose() {
		for _, example := range o.Tally.Examples() {
			t.Logf("a write without a change:\n%s", example)
		}
	}
	t.Logf("seed %d, %s\n%s", seed, time.Since(search.started).Round(time.Second), o.Tally)
}

// open starts an API server and opens an oracle on it, with the seed of the environment or the given one.
func open(t *testing.T, otherwise int) (o *oracle.Oracle, config *rest.Config, seed int) {
	t.Helper()
	if testing.Short() {
		t.Skip("searches for a minute")
	}
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("KUBEBUILDER_ASSETS is not set; run make assets")
		}
		t.Skip("KUBEBUILDER_ASSETS is not set; run make assets")
	}
	log.SetLogger(logr.Discard())
	seed = number(envSeed, otherwise)
	t.Logf("seed %d", seed)
	config = start(t)
	o, err := oracle.Open(t.Context(), config, uint64(seed))
	if err != nil {
		t.Fatal(err)
	}
	return o, config, seed
}

// start starts an API server without durable storage.
func start(t *testing.T) *rest.Config {
	t.Helper()
	gateway, err := build.Import("sigs.k8s.io/gateway-api/apis/v1", ".", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	crds := filepath.Join(gateway.Dir, "..", "..", "config", "crd", "standard")
	server := &envtest.Environment{
		BinaryAssetsDirectory: os.Getenv("KUBEBUILDER_ASSETS"),
		CRDDirectoryPaths: []string{
			filepath.Join(crds, "gateway.networking.k8s.io_httproutes.yaml"), filepath.Join(crds, "gateway.networking.k8s.io_grpcroutes.yaml"),
			filepath.Join(crds, "gateway.networking.k8s.io_gateways.yaml"),
		},
		CRDs:                     []*apiextensionsv1.CustomResourceDefinition{widget.CRD()},
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: 3 * time.Minute, ControlPlaneStopTimeout: time.Minute,
	}
	server.ControlPlane.GetAPIServer().Configure().
		Set("advertise-address", "127.0.0.1").Set("endpoint-reconciler-type", "none").
		Set("enable-priority-and-fairness", "false").Set("service-cluster-ip-range", "10.0.0.0/16")
	server.ControlPlane.Etcd = &envtest.Etcd{}
	server.ControlPlane.Etcd.Configure().Append("unsafe-no-fsync", "true")
	config, err := server.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	return config
}

// search runs sequences until it has enough cases.
type search struct {
	t       *testing.T
	oracle  *oracle.Oracle
	cases   int
	started time.Time
	most    time.Duration // time limit; 0: none
	next    atomic.Int64
	failed  atomic.Bool
	report  sync.Mutex
}

func (s *search) run(ctx context.Context) {
	done := make(chan struct{})
	go s.progress(done)
	var wg sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for s.more() {
				s.runOne(ctx, int(s.next.Add(1)-1))
			}
		})
	}
	wg.Wait()
	close(done)
}

// more returns true if another sequence is needed.
func (s *search) more() bool {
	if s.failed.Load() && os.Getenv(envKeep) == "" {
		return false
	}
	return s.oracle.Tally.Cases() < s.cases && (s.most == 0 || time.Since(s.started) < s.most)
}

func (s *search) runOne(ctx context.Context, n int) {
	failure, err := s.oracle.Run(ctx, n)
	if err != nil {
		s.failed.Store(true)
		s.t.Errorf("sequence %d: %v", n, err)
		return
	}
	if failure == nil {
		return
	}
	s.failed.Store(true)
	s.report.Lock()
	defer s.report.Unlock()
	failure = s.oracle.Shrink(ctx, failure)
	s.t.Errorf("%s", failure)
}

// progress prints the progress of the search every 30 seconds.
func (s *search) progress(done chan struct{}) {
	ticker := time.NewTicker(30 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			n, took := s.oracle.Tally.Cases(), time.Since(s.started)
			left := time.Duration(float64(took) / float64(max(n, 1)) * float64(s.cases-n))
			fmt.Printf("oracle: %d of %d cases, %.0f a second, %s left\n", n, s.cases, float64(n)/took.Seconds(), left.Round(time.Second))
		}
	}
}
