package pipeline

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRequestToken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ value, want string }{
		"no request":                        {},
		"a time":                            {"2026-11-26T10:00:00Z", "2026-11-26T10:00:00Z"},
		"the maximum length":                {strings.Repeat("a", 256), strings.Repeat("a", 256)},
		"a longer value":                    {strings.Repeat("a", 257), strings.Repeat("a", 256)},
		"a character at the maximum length": {strings.Repeat("a", 255) + "é", strings.Repeat("a", 255)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{RequestAnnotation: c.value}}}
			if diff := cmp.Diff(c.want, RequestToken(owner)); diff != "" {
				t.Errorf("token (-want +got):\n%s", diff)
			}
		})
	}
}
