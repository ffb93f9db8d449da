package operator_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The operator at rest", func() {
	It("sends nothing while two subscriptions and an auth policy share a model", func(ctx context.Context) {
		DeferCleanup(clean)
		for _, s := range scenarios() {
			if s.Name == "subscription-two-on-same-model-aggregate" || s.Name == "external-model-creates-four-children" {
				for _, object := range s.Given {
					applyObject(ctx, object)
				}
				s.Expect.hold(ctx, memory{})
			}
		}
		Eventually(func() int {
			requests.Reset()
			time.Sleep(2 * moment) // in which something would be sent
			return len(requests.Snapshot().WithoutInformers())
		}).WithTimeout(patience).Should(BeZero())
	})
})
