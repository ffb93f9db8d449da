package operator_test

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The operator in steady state", func() {
	It("sends nothing while the platform is installed, and subscriptions and an auth policy share a model", func(ctx context.Context) {
		DeferCleanup(func(ctx context.Context) {
			shipped.start()
			clean(ctx)
		})
		shipped.stop()
		startOperator(counted.Observe(env.Config()))
		for _, s := range scenarios() {
			if slices.Contains([]string{
				"subscription-two-on-same-model-aggregate", "external-model-creates-four-children", "tenant-telemetry-toggle",
			}, s.Name) {
				known := memory{}
				for _, object := range s.Given {
					applyObject(ctx, object)
				}
				for _, step := range s.Steps {
					step.run(ctx, known)
				}
				s.Expect.hold(ctx, known)
			}
		}
		Eventually(func() int {
			counted.Reset()
			time.Sleep(2 * moment) // time for unexpected requests
			return len(counted.Snapshot().WithoutInformers())
		}).WithTimeout(patience).Should(BeZero())
	})
})
