package recording_test

import (
	"fmt"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/recording"
)

func ExampleDecode() {
	_, err := recording.Decode(strings.NewReader(`{"version":2}`))
	fmt.Println(err)
	// Output: read the recording: version is 2, want 1: record the pass again
}
